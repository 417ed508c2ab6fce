import { describe, expect, it } from 'vitest';
import { readAll } from '../../../src/cli/terminal/streams.ts';
import { untilAborted } from '../../../src/core/abort.ts';

async function* chunks(...parts: string[]) {
  for (const part of parts) yield Buffer.from(part);
}

async function* endless() {
  yield Buffer.from('x');
  await new Promise(() => undefined);
}

describe('readAll', () => {
  it('puts characters together that were cut', async () => {
    const [first, second] = [Buffer.from('ë').subarray(0, 1), Buffer.from('ë').subarray(1)];
    const source = (async function* () {
      yield first;
      yield second;
    })();
    expect(await readAll(source)).toBe('ë');
    expect(await readAll(chunks('a', 'b'))).toBe('ab');
  });

  it('stops waiting when the signal comes', async () => {
    const stop = new AbortController();
    const reading = readAll(endless(), stop.signal);
    stop.abort(new Error('stopped'));
    await expect(reading).rejects.toThrow('stopped');
  });
});

describe('untilAborted', () => {
  it.each([
    ['the result', Promise.resolve(5), undefined, 5],
    ['the reason of a signal that came before', new Promise<number>(() => undefined), new Error('stopped'), undefined],
  ])('gives %s', async (_name, work, reason, expected) => {
    const signal = reason === undefined ? new AbortController().signal : AbortSignal.abort(reason);
    const ended = await untilAborted(work, signal).catch((cause: unknown) => cause);
    expect(ended).toBe(reason ?? expected);
  });

  it('gives the failure of the work', async () => {
    const work = Promise.reject(new Error('failed'));
    await expect(untilAborted(work, new AbortController().signal)).rejects.toThrow('failed');
  });
});
