import { orderOf, type Row } from './page.ts';
import type { WalkedPage } from './walkoptions.ts';

/** A walk is no longer in id order; what was yielded so far is complete up to the last id. */
export class Unmergeable extends Error {}

/** The rows of several walks in ascending id order, each id once, as long as they are in order (else Unmergeable). */
export async function* mergeWalks(walks: readonly AsyncGenerator<WalkedPage>[]): AsyncGenerator<WalkedPage> {
  const sides = walks.map((walk): Side => ({ walk, rows: [], page: undefined, ended: false }));
  let fetched: number | undefined;
  try {
    for (;;) {
      await Promise.all(sides.map(fill));
      const open = sides.filter(({ rows }) => rows.length > 0);
      const page = open[0]?.page;
      if (page === undefined) return;
      // Up to here every side that still has rows has yielded all of them.
      const upTo = open.map(({ rows }) => orderOf(rows.at(-1))).reduce((least, id) => (id < least ? id : least));
      const rows = uniqueById(open.flatMap((side) => take(side, upTo)));
      const ids = { firstId: String(orderOf(rows[0])), lastId: String(upTo) };
      fetched = (fetched ?? (page.position?.fetched ?? 0) - page.rows.length) + rows.length;
      yield { ...page, rows, ...ids, position: { lastId: String(upTo), fetched } };
    }
  } finally {
    await Promise.all(walks.map((walk) => walk.return(undefined)));
  }
}

/** One of the walks, and its rows that wait for those of the others. */
interface Side {
  readonly walk: AsyncGenerator<WalkedPage>;
  rows: readonly Row[];
  page: WalkedPage | undefined;
  ended: boolean;
}

async function fill(side: Side): Promise<void> {
  while (!side.ended && side.rows.length === 0) {
    const { done = false, value: page } = await side.walk.next();
    if (!done && page.position === undefined) throw new Unmergeable();
    side.ended = done;
    if (!done) [side.page, side.rows] = [page, page.rows];
  }
}

function take(side: Side, upTo: bigint): readonly Row[] {
  const beyond = side.rows.findIndex((row) => orderOf(row) > upTo);
  const end = beyond < 0 ? side.rows.length : beyond;
  const taken = side.rows.slice(0, end);
  side.rows = side.rows.slice(end);
  return taken;
}

function uniqueById(rows: readonly Row[]): readonly Row[] {
  const byId = new Map(rows.toReversed().map((row) => [orderOf(row), row]));
  return [...byId.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}
