import { describe, expect, it } from 'vitest';
import { mapInOrder } from '../../src/core/orderedmap.ts';

async function* upTo(count: number, fail?: Error): AsyncGenerator<number> {
  for (let number = 0; number < count; number++) yield number;
  if (fail !== undefined) throw fail;
}

async function all<T>(results: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const result of results) found.push(result);
  return found;
}

/** Ends after so many turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((done) => setImmediate(done));
}

describe('working in order', () => {
  it.each([1, 2, 5])('gives results in the order of the items, %s at a time', async (width) => {
    let running = 0;
    let most = 0;
    const work = async (item: number) => {
      most = Math.max(most, ++running);
      await turns((item * 7) % 5);
      running--;
      return item;
    };
    expect(await all(mapInOrder(upTo(100), width, work))).toEqual(Array.from({ length: 100 }, (_, index) => index));
    expect(most).toBe(width);
  });

  it('takes no more items than it needs', async () => {
    let taken = 0;
    const items = async function* () {
      for (;;) yield taken++;
    };
    for await (const result of mapInOrder(items(), 2, async (item) => item)) if (result === 10) break;
    expect(taken).toBeLessThan(40);
  });

  it('gives what was before a failure of the items', async () => {
    const found: number[] = [];
    const failure = new Error('lost');
    const run = async () => {
      for await (const result of mapInOrder(upTo(3, failure), 2, async (item) => item)) found.push(result);
    };
    await expect(run()).rejects.toBe(failure);
    expect(found).toEqual([0, 1, 2]);
  });

  it('ends what was begun, and begins no more, when the work fails or nobody wants the rest', async () => {
    const [begun, ended]: [number[], number[]] = [[], []];
    const work = async (item: number) => {
      begun.push(item);
      await turns(item === 0 ? 1 : 20);
      ended.push(item);
      if (item === 0) throw new Error('failed');
      return item;
    };
    await expect(all(mapInOrder(upTo(100), 3, work))).rejects.toThrow('failed');
    expect(ended.length).toBe(begun.length);
    expect(begun.length).toBeLessThan(8);
    expect(await all(mapInOrder(upTo(0), 3, work))).toEqual([]);
  });
});
