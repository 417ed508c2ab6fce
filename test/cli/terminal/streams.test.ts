import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { processStreams, readAll } from '../../../src/cli/terminal/streams.ts';
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

describe('a yes-or-no question', () => {
  afterEach(() => vi.restoreAllMocks());

  it.each([
    ['Return alone', '\r', false],
    ['n', 'n\r', false],
    ['y', 'y\r', true],
  ])('%s is answered by what it says, and on standard error', async (_name, keys, answer) => {
    const [typed, shown] = [new PassThrough(), new PassThrough()];
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(typed as unknown as typeof process.stdin);
    vi.spyOn(process, 'stderr', 'get').mockReturnValue(shown as unknown as typeof process.stderr);
    const asked = processStreams().confirm('Delete 5?', new AbortController().signal);
    let text = '';
    shown.on('data', (chunk) => {
      // It listens for keys once it has asked.
      if (text === '') setImmediate(() => typed.write(keys));
      text += chunk;
    });
    expect(await asked).toBe(answer);
    expect(text).toContain('Delete 5?');
  });
});
