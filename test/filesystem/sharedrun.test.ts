import { describe, expect, it } from 'vitest';
import { sharedRun } from '../../src/filesystem/sharedrun.ts';

/** A list whose reads end when the test says so. */
function slowList() {
  const reads: { resolve: (rows: readonly number[]) => void; reject: (cause: Error) => void }[] = [];
  const list = sharedRun(() => new Promise<readonly number[]>((resolve, reject) => reads.push({ resolve, reject })));
  return { list, reads };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a shared run', () => {
  it('is read once for those that ask while another is read, and never one begun before', async () => {
    const { list, reads } = slowList();
    const first = list();
    await settled();
    const later = [list(), list()];
    await settled();
    expect(reads).toHaveLength(1);
    reads[0]?.resolve([1]);
    await settled();
    reads[1]?.resolve([1, 2]);
    expect(await first).toEqual([1]);
    expect(await Promise.all(later)).toEqual([
      [1, 2],
      [1, 2],
    ]);
    expect(reads).toHaveLength(2);
  });

  it('is read anew after one that failed', async () => {
    const { list, reads } = slowList();
    const failed = list();
    await settled();
    const next = list();
    reads[0]?.reject(new Error('away'));
    await expect(failed).rejects.toThrow('away');
    await settled();
    reads[1]?.resolve([3]);
    expect(await next).toEqual([3]);
  });

  it('that fails is told to all who share it, and the next is made all the same', async () => {
    const { list, reads } = slowList();
    const done: string[] = [];
    const call = (name: string) => list().then(() => done.push(name));
    const calls = [call('first'), call('with it')];
    await settled();
    expect(reads).toHaveLength(1);
    calls.push(call('during'), call('during, too'));
    reads[0]?.resolve([]);
    await settled();
    expect([done, reads.length]).toEqual([['first', 'with it'], 2]);
    const failing = calls.splice(2).map((each) => expect(each).rejects.toThrow('disk'));
    calls.push(call('last'));
    reads[1]?.reject(new Error('disk'));
    await Promise.all(failing);
    await settled();
    reads[2]?.resolve([]);
    await Promise.all(calls);
    expect([done, reads.length]).toEqual([['first', 'with it', 'last'], 3]);
  });
});
