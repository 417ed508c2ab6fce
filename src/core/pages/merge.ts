import { idOf, type Row } from './page.ts';
import type { WalkedPage } from './walkoptions.ts';

/**
 * The rows of several walks in ascending id order, each id once. All of them can resume after the last id. Throws
 * Unmergeable when one of them is no longer in id order.
 */
export async function* mergeWalks(walks: readonly AsyncGenerator<WalkedPage>[]): AsyncGenerator<WalkedPage> {
  const sides = walks.map((walk) => new Side(walk));
  let fetched: number | undefined;
  try {
    for (;;) {
      await Promise.all(sides.map((side) => side.fill()));
      const open = sides.filter(({ rows }) => rows.length > 0);
      const [first] = open;
      if (first?.page === undefined) return;
      // Up to here every side that still has rows has yielded all of them.
      const upTo = open.map(({ lastId }) => lastId).reduce((least, id) => (id < least ? id : least));
      const rows = uniqueById(open.flatMap((side) => side.take(upTo)));
      const ids = { firstId: String(idOf(rows[0] ?? {})), lastId: String(upTo) };
      fetched = (fetched ?? (first.page.position?.fetched ?? 0) - first.page.rows.length) + rows.length;
      yield { ...first.page, rows, ...ids, position: { lastId: String(upTo), fetched } };
    }
  } finally {
    await Promise.all(walks.map((walk) => walk.return(undefined)));
  }
}

/** A walk is no longer in id order; what was yielded so far is complete up to the last id. */
export class Unmergeable extends Error {}

/** One of the walks, and its rows that wait for those of the others. */
class Side {
  rows: readonly Row[] = [];
  page: WalkedPage | undefined;
  private ended = false;
  private readonly walk: AsyncGenerator<WalkedPage>;

  constructor(walk: AsyncGenerator<WalkedPage>) {
    this.walk = walk;
  }

  get lastId(): bigint {
    return idOf(this.rows.at(-1) ?? {}) ?? 0n;
  }

  async fill(): Promise<void> {
    while (!this.ended && this.rows.length === 0) {
      const next = await this.walk.next();
      if (next.done) this.ended = true;
      else {
        if (next.value.position === undefined) throw new Unmergeable();
        this.page = next.value;
        this.rows = next.value.rows;
      }
    }
  }

  take(upTo: bigint): readonly Row[] {
    const beyond = this.rows.findIndex((row) => (idOf(row) ?? 0n) > upTo);
    const taken = beyond < 0 ? this.rows : this.rows.slice(0, beyond);
    this.rows = beyond < 0 ? [] : this.rows.slice(beyond);
    return taken;
  }
}

function uniqueById(rows: readonly Row[]): readonly Row[] {
  const byId = new Map<string, Row>();
  for (const row of rows) {
    const id = String(idOf(row));
    if (!byId.has(id)) byId.set(id, row);
  }
  return [...byId.values()].toSorted((a, b) => ((idOf(a) ?? 0n) < (idOf(b) ?? 0n) ? -1 : 1));
}
