import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeWalks, Unmergeable } from '../../../src/core/pages/merge.ts';
import type { WalkedPage, WalkPosition } from '../../../src/core/pages/walkoptions.ts';

interface Side {
  readonly ids: readonly bigint[];
  /** Rows of its pages, one after another, again and again. */
  readonly sizes: readonly number[];
}

const START: WalkPosition = { lastId: '0', fetched: 40 };

function pageOf(ids: readonly bigint[], side: number, position: WalkPosition | undefined): WalkedPage {
  const rows = ids.map((id) => ({ id: String(id), side }));
  const [firstId = null, lastId = null] = [rows[0]?.id, rows.at(-1)?.id];
  return { rows, meta: null, requestId: null, firstId, lastId, pageSize: 3, position };
}

/** A walk over the ids of a side, and whether it has been closed. */
function walkOf({ ids, sizes }: Side, side: number, closed: Set<number>): AsyncGenerator<WalkedPage> {
  return (async function* () {
    try {
      for (let at = 0, page = 0; at < ids.length; page++) {
        const some = ids.slice(at, at + (sizes[page % sizes.length] ?? 1));
        at += some.length;
        yield pageOf(some, side, { lastId: String(some.at(-1)), fetched: START.fetched + at });
      }
    } finally {
      closed.add(side);
    }
  })();
}

const id = fc.oneof(fc.bigInt(1n, 40n), fc.bigInt(2n ** 53n - 2n, 2n ** 53n + 4n));
const side: fc.Arbitrary<Side> = fc.record({
  ids: fc.uniqueArray(id, { maxLength: 25 }).map((ids) => ids.toSorted((a, b) => (a < b ? -1 : 1))),
  sizes: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }),
});

describe('mergeWalks', () => {
  it('brings what any of the walks has once, in order, with a position after each page that is true', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(side, { minLength: 1, maxLength: 3 }), async (sides) => {
        const closed = new Set<number>();
        const wanted = [...new Set(sides.flatMap(({ ids }) => ids))].toSorted((a, b) => (a < b ? -1 : 1)).map(String);
        const found: string[] = [];
        for await (const page of mergeWalks(sides.map((each, at) => walkOf(each, at, closed)))) {
          const ids = page.rows.map((row) => String(row.id));
          found.push(...ids);
          expect(page).toMatchObject({ firstId: ids[0], lastId: ids.at(-1) });
          expect(page.position).toEqual({ lastId: ids.at(-1), fetched: START.fetched + found.length });
        }
        expect(found).toEqual(wanted);
        expect(closed.size).toBe(sides.length);
      }),
    );
  });

  it('takes a row that several walks have from the first of them', async () => {
    const both = [0, 1].map((at) => walkOf({ ids: [1n, 2n], sizes: [2] }, at, new Set()));
    const { value } = await mergeWalks(both).next();
    expect(value?.rows).toEqual([
      { id: '1', side: 0 },
      { id: '2', side: 0 },
    ]);
  });

  it('fails on a page out of order, after all that is complete before it, and closes every walk', async () => {
    const closed = new Set<number>();
    const disordered = (async function* () {
      yield pageOf([3n], 1, { lastId: '3', fetched: 41 });
      yield pageOf([9n], 1, undefined);
    })();
    const found: unknown[] = [];
    const merging = async () => {
      for await (const { rows } of mergeWalks([walkOf({ ids: [1n, 2n, 5n], sizes: [1] }, 0, closed), disordered]))
        found.push(...rows.map((row) => row.id));
    };
    await expect(merging()).rejects.toBeInstanceOf(Unmergeable);
    expect(found).toEqual(['1', '2', '3']);
    expect([...closed]).toEqual([0]);
  });

  it('closes every walk when nobody wants more', async () => {
    const closed = new Set<number>();
    const merged = mergeWalks([0, 1].map((at) => walkOf({ ids: [1n, 2n, 3n], sizes: [1] }, at, closed)));
    await merged.next();
    await merged.return(undefined);
    expect([...closed].toSorted()).toEqual([0, 1]);
  });
});
