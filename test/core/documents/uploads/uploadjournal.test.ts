import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openJournal } from '../../../../src/core/documents/uploads/uploadjournal.ts';
import { OWNER_ONLY } from '../../../support/capabilities.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  path = join(folder, 'results.csv.journal');
});
afterEach(() => rm(folder, { recursive: true }));

const HEADER = '{"journal":"molar documents upload","version":2}\n';
const text = () => readFile(path, 'utf8');

describe('the journal of uploads', () => {
  it('has every line before its note is done, in the order of the notes, however many come at once', async () => {
    const { journal, close } = await openJournal(path);
    const keys = Array.from({ length: 50 }, (_, index) => `key ${index}`);
    const notes = keys.map(async (key, index) => {
      await (index % 2 === 0
        ? journal.note(key, { state: 'sending' })
        : journal.note(key, { state: 'stored', id: '7' }));
      expect(await text()).toContain(`"${key}"`);
    });
    await Promise.all(notes);
    await close();
    const lines = (await text()).trimEnd().split('\n').slice(1);
    expect(lines.map((line) => JSON.parse(line).key)).toEqual(keys);
  });

  it('tells the next run what was sent, stored and refused', async () => {
    const first = await openJournal(path);
    expect(first.journal.isContinued).toBe(false);
    await first.journal.note('a', { state: 'sending' });
    await first.journal.note('b', { state: 'sending' });
    await first.journal.note('b', { state: 'stored', id: '7000000000114' });
    await first.journal.note('c', { state: 'sending' });
    await first.journal.note('c', { state: 'refused' });
    await first.close();
    const { journal, close } = await openJournal(path);
    expect(journal.isContinued).toBe(true);
    expect(['a', 'b', 'c', 'd'].map((key) => journal.entryOf(key))).toEqual([
      { state: 'sending' },
      { state: 'stored', id: '7000000000114' },
      { state: 'refused' },
      undefined,
    ]);
    await close();
    expect(await text()).toBe(
      `${HEADER}{"key":"a","state":"sending"}\n{"key":"b","state":"stored","id":"7000000000114"}\n{"key":"c","state":"refused"}\n`,
    );
    expect((await stat(path)).mode & 0o777).toBe(OWNER_ONLY.file);
  });

  it('is written before it is needed: without being closed, it is all there', async () => {
    const { journal, close } = await openJournal(path);
    await journal.note('a', { state: 'sending' });
    expect(await text()).toBe(`${HEADER}{"key":"a","state":"sending"}\n`);
    await close();
  });

  it('reads what an older version left, and goes on in its own', async () => {
    await writeFile(
      path,
      '{"journal":"molar documents upload","version":1}\n{"key":"a","state":"sending","after":5}\n{"key":"b","state":"stored","id":"7"}\n',
    );
    const { journal, close } = await openJournal(path);
    expect(journal.isContinued).toBe(true);
    expect(['a', 'b'].map((key) => journal.entryOf(key))).toEqual([{ state: 'sending' }, { state: 'stored', id: '7' }]);
    await close();
    expect(await text()).toBe(`${HEADER}{"key":"a","state":"sending"}\n{"key":"b","state":"stored","id":"7"}\n`);
  });

  it('survives a crash at any byte: every whole line counts, and later runs go on', async () => {
    const entries = ['a', 'b', 'c'].map((key) => `{"key":"${key}","state":"sending"}\n`);
    const whole = HEADER + entries.join('');
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: HEADER.length, max: whole.length }), async (length) => {
        await writeFile(path, whole.slice(0, length));
        const { journal, close } = await openJournal(path);
        await journal.note('z', { state: 'stored', id: '1' });
        await close();
        // A line without its end is as good as one with it; less of it is nothing.
        const count = entries.filter((_, at) => length >= HEADER.length + entries.slice(0, at + 1).join('').length - 1);
        expect(await text()).toBe(`${HEADER}${count.join('')}{"key":"z","state":"stored","id":"1"}\n`);
      }),
      { numRuns: 60 },
    );
  });

  it('takes no notice of lines that it does not know', async () => {
    await writeFile(path, HEADER);
    await appendFile(
      path,
      '{"key":"a","state":"other"}\n[]\n{"key":5,"state":"refused"}\n{"key":"b","state":"refused"}\n',
    );
    const { journal, close } = await openJournal(path);
    expect(['a', 'b'].map((key) => journal.entryOf(key))).toEqual([undefined, { state: 'refused' }]);
    await close();
  });

  it.each(['my notes\n', '', '{"journal":"another"}\n'])(
    'never takes the place of another file: %j',
    async (content) => {
      await writeFile(path, content);
      await expect(openJournal(path)).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringContaining('is not a journal of uploads'),
      });
      expect(await text()).toBe(content);
    },
  );

  it('fails with exit code 9 where it cannot be written', async () => {
    await expect(openJournal(join(folder, 'missing', 'journal'))).rejects.toMatchObject({ exitCode: 9 });
  });
});
