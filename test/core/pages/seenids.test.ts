import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Page } from '../../../src/core/pages/page.ts';
import { IdLog, SeenIds } from '../../../src/core/pages/seenids.ts';

/** Ids that are close to each other, so that some come twice, on both sides of what a number can tell exactly. */
const someIds = fc.array(
  fc.oneof(fc.bigInt(1n, 30n), fc.bigInt(2n ** 53n - 3n, 2n ** 53n + 3n), fc.bigInt(1n, 2n ** 60n)),
  { maxLength: 50 },
);

function pageOf(ids: readonly bigint[]): Page {
  const text = (id: bigint | undefined) => (id === undefined ? null : String(id));
  const rows = ids.map((id) => ({ id: String(id) }));
  return {
    rows,
    meta: null,
    requestId: 'req-1',
    firstId: text(ids[0]),
    lastId: text(ids.at(-1)),
    pageSize: 9,
  };
}

describe('SeenIds', () => {
  it('lets each id above its floor through once, and tells the ids of what is left of a page', () => {
    fc.assert(
      // A set of the engine holds so many ids; here it is small, so that one follows another.
      fc.property(fc.array(someIds, { maxLength: 6 }), fc.bigInt(0n, 20n), fc.constantFrom(1, 3, 1000), (...given) => {
        const [pages, floor, maxSetSize] = given;
        const seen = new SeenIds(floor, maxSetSize);
        const before = new Set<bigint>();
        for (const ids of pages) {
          const fresh = ids.filter((id) => id > floor && !before.has(id) && before.add(id));
          expect(seen.fresh(pageOf(ids))).toEqual(pageOf(fresh));
        }
      }),
    );
  });
});

describe('IdLog', () => {
  /** Differences as long as one byte tells, as two tell, and so on. */
  const EDGES = [1n, 126n, 127n, 128n, 129n, 2n ** 14n - 1n, 2n ** 14n, 2n ** 21n, 2n ** 53n];
  const steps = fc.array(fc.oneof(fc.constantFrom(...EDGES), fc.bigInt(1n, 2n ** 60n)), { maxLength: 50 });

  it('remembers every id and no other, however far apart they are', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 300n), steps, fc.constantFrom(-1n, 1n), (floor, differences, beside) => {
        let last = floor;
        const ids = differences.map((step) => (last += step));
        const log = new IdLog(floor);
        log.add(ids.map((id) => ({ id: String(id) })));
        const isKnown = (id: bigint) => !log.seen().addId(id);
        expect(ids.filter((id) => !isKnown(id))).toEqual([]);
        const others = ids.map((id) => id + beside).filter((id) => id > floor && !ids.includes(id));
        expect(others.filter(isKnown)).toEqual([]);
      }),
    );
  });

  it('counts what lies up to its floor as logged, and grows', () => {
    const log = new IdLog(100n);
    log.add(Array.from({ length: 10_000 }, (_, at) => ({ id: 101 + at * 1000 })));
    const seen = log.seen();
    expect([seen.addId(5n), seen.addId(9_999_101n - 1000n), seen.addId(102n)]).toEqual([false, false, true]);
  });

  it('goes over a row without an id, and refuses one that goes back', () => {
    const log = new IdLog(0n);
    log.add([{ id: 5 }, {}, { id: 9 }]);
    expect(() => log.add([{ id: 8 }])).toThrow(RangeError);
    const seen = log.seen();
    expect([5n, 8n, 9n].map((id) => seen.addId(id))).toEqual([false, true, false]);
  });
});
