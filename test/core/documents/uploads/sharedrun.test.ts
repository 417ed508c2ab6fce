import { describe, expect, it } from 'vitest';
import { sharedRun } from '../../../../src/core/documents/uploads/sharedrun.ts';

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
});
