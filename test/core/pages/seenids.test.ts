import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IdLog } from '../../../src/core/pages/seenids.ts';

it('remembers every id and no other, however far apart they are', () => {
  const ids = fc.uniqueArray(fc.bigInt(1n, 2n ** 60n), { maxLength: 50 });
  fc.assert(
    fc.property(ids, fc.bigInt(1n, 2n ** 60n), (some, other) => {
      const ordered = some.toSorted((a, b) => (a < b ? -1 : 1));
      const log = new IdLog(0n);
      log.add(ordered.map((id) => ({ id: String(id) })));
      const seen = log.seen();
      expect(ordered.filter((id) => seen.addId(id))).toEqual([]);
      expect(seen.addId(other)).toBe(!some.includes(other));
    }),
  );
});

it('counts what lies up to its floor as logged, and grows', () => {
  const log = new IdLog(100n);
  log.add(Array.from({ length: 10_000 }, (_, at) => ({ id: 101 + at * 1000 })));
  const seen = log.seen();
  expect([seen.addId(5n), seen.addId(9_999_101n - 1000n), seen.addId(102n)]).toEqual([false, false, true]);
});
