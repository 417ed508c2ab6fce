import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ImportResumer } from '../../../../src/server/import/staged/resumer.ts';
import type { Service } from '../../../../src/server/service.ts';
import type { ImportClaim } from '../../../../src/server/store/store.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const HOUR = 3_600_000;

/** A resumer that looks every ten seconds into a store where an import is decided, or none is. */
function open(isDecided: boolean, claimImports: () => Promise<ImportClaim | undefined>) {
  const faults: unknown[] = [];
  const calls = { claimed: 0, released: 0 };
  const store = {
    // No import is left to be published: what is left is to be removed.
    read: { get: async () => (isDecided ? { found: 1 } : undefined), all: async () => [] },
    claimImports() {
      calls.claimed++;
      return claimImports();
    },
  };
  const resumer = new ImportResumer({ store } as unknown as Service, (error) => faults.push(error));
  const claim = { names: async () => [], release: async () => void calls.released++ } as unknown as ImportClaim;
  return { resumer, faults, calls, claim };
}

it('looks again after a fault, which is told of, and no more once it is closed', async () => {
  const { resumer, faults, calls } = open(true, async () => Promise.reject(new Error('away')));
  resumer.start();
  await vi.advanceTimersByTimeAsync(0);
  expect(faults).toEqual([new Error('away')]);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(faults).toHaveLength(3);
  await resumer.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([calls.claimed, vi.getTimerCount()]).toEqual([3, 0]);
});

it('looks one at a time, and its end waits for what it is at', async () => {
  let give = (_claim: ImportClaim) => {};
  const { resumer, calls, claim } = open(true, () => new Promise((resolve) => (give = resolve)));
  resumer.start();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(calls.claimed).toBe(1);
  let isClosed = false;
  const closing = resumer.close().then(() => (isClosed = true));
  await vi.advanceTimersByTimeAsync(1000);
  expect(isClosed).toBe(false);
  give(claim);
  await closing;
  expect(calls).toEqual({ claimed: 1, released: 1 });
});

it('leaves imports to another process that has the claim, and tells of no fault after its end', async () => {
  const busy = open(true, async () => undefined);
  busy.resumer.start();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([busy.calls.claimed, busy.faults]).toEqual([2, []]);
  await busy.resumer.close();
  let fail = (_error: Error) => {};
  const ending = open(true, () => new Promise((_, reject) => (fail = reject)));
  ending.resumer.start();
  await vi.advanceTimersByTimeAsync(0);
  const closing = ending.resumer.close();
  fail(new Error('away'));
  await closing;
  expect(ending.faults).toEqual([]);
});

it('removes what others have left with its second look, and then once an hour', async () => {
  const { resumer, calls, claim } = open(false, async () => claim);
  resumer.start();
  await vi.advanceTimersByTimeAsync(9_999);
  expect(calls.claimed).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(calls).toEqual({ claimed: 1, released: 1 });
  await vi.advanceTimersByTimeAsync(HOUR - 10_000);
  expect(calls.claimed).toBe(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(calls).toEqual({ claimed: 2, released: 2 });
  await resumer.close();
});
