import { describe, expect, it } from 'vitest';
import { Notes } from '../../../src/cli/terminal/notes.ts';

function written(isTTY: boolean, asJson: boolean) {
  const texts: string[] = [];
  const write = async (text: string | Uint8Array) => void texts.push(String(text));
  return { texts, notes: new Notes({ write, isTTY, columns: undefined }, asJson) };
}

describe('Notes', () => {
  it.each([
    ['a terminal', true, false],
    ['a terminal with JSON', true, true],
    ['a pipe', false, false],
  ])('tells %s at once', async (_name, isTTY, asJson) => {
    const { texts, notes } = written(isTTY, asJson);
    await notes.say('One.');
    expect(texts).toEqual(['One.\n']);
    expect(notes.take()).toEqual([]);
  });

  it('tells a program that asked for JSON at the end', async () => {
    const { texts, notes } = written(false, true);
    await notes.say('One.');
    await notes.say('Two.');
    expect(texts).toEqual([]);
    await notes.flush();
    await notes.flush();
    expect(texts).toEqual(['One.\n', 'Two.\n']);
  });

  it('leaves what was held back to who takes it', async () => {
    const { texts, notes } = written(false, true);
    await notes.say('One.');
    expect(notes.take()).toEqual(['One.']);
    await notes.flush();
    expect(texts).toEqual([]);
  });

  it('says nothing to who is gone', async () => {
    const gone = new Notes({ write: () => Promise.reject(new Error('gone')), isTTY: false, columns: undefined }, false);
    await expect(gone.say('One.')).resolves.toBeUndefined();
  });
});
