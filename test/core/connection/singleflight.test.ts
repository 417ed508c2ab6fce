import { describe, expect, it } from 'vitest';
import { SingleFlight } from '../../../src/core/connection/clientcredentials.ts';

function counted() {
  const runs: { readonly signal: AbortSignal; readonly done: (value: string) => void }[] = [];
  const work = new SingleFlight(
    (signal) =>
      new Promise<string>((done, reject) => {
        runs.push({ signal, done });
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  );
  return { runs, work };
}

describe('shared work', () => {
  it('is done once for all that join, and again for the next', async () => {
    const { runs, work } = counted();
    const joined = [work.join(), work.join(), work.join(new AbortController().signal)];
    runs[0]?.done('first');
    expect(await Promise.all(joined)).toEqual(['first', 'first', 'first']);
    const next = work.join();
    runs[1]?.done('second');
    expect([await next, runs.length]).toEqual(['second', 2]);
  });

  it('goes on for the others when the one that started it leaves', async () => {
    const { runs, work } = counted();
    const stop = new AbortController();
    const [first, second] = [work.join(stop.signal), work.join()];
    stop.abort(new Error('left'));
    await expect(first).rejects.toThrow('left');
    expect(runs[0]?.signal.aborted).toBe(false);
    runs[0]?.done('value');
    expect([await second, runs.length]).toEqual(['value', 1]);
  });

  it('is aborted when the last one leaves, and a newcomer starts it anew', async () => {
    const { runs, work } = counted();
    const stop = new AbortController();
    const both = [work.join(stop.signal), work.join(stop.signal)];
    stop.abort(new Error('left'));
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(runs[0]?.signal.aborted).toBe(true);
    const next = work.join();
    runs[1]?.done('value');
    expect(await next).toBe('value');
  });

  it('is not started for a caller that has left already', async () => {
    const { runs, work } = counted();
    await expect(work.join(AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
    expect(runs).toEqual([]);
  });

  it('fails for all that joined, and can be tried again', async () => {
    let runs = 0;
    const work = new SingleFlight(async () => {
      if (++runs === 1) throw new Error('failed');
      return 'value';
    });
    const joined = await Promise.allSettled([work.join(), work.join()]);
    expect(joined.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect([await work.join(), runs]).toEqual(['value', 2]);
  });
});
