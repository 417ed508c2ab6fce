import { describe, expect, it } from 'vitest';
import { Listing } from '../../../../src/core/documents/uploads/listing.ts';

/** A listing whose reads end when they are told to. */
function slowListing() {
  const reads: { resolve: (rows: readonly number[]) => void; reject: (cause: Error) => void }[] = [];
  const listing = new Listing<number>(() => new Promise((resolve, reject) => reads.push({ resolve, reject })));
  return { listing, reads };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a listing', () => {
  it('is read once for those that ask while another is read, and never one begun before', async () => {
    const { listing, reads } = slowListing();
    const first = listing.fresh();
    await settled();
    const later = [listing.fresh(), listing.fresh()];
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
    const { listing, reads } = slowListing();
    const failed = listing.fresh();
    await settled();
    const next = listing.fresh();
    reads[0]?.reject(new Error('away'));
    await expect(failed).rejects.toThrow('away');
    await settled();
    reads[1]?.resolve([3]);
    expect(await next).toEqual([3]);
  });
});
