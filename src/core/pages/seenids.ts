import { idOf, type Page, type Row } from './page.ts';

/** A Set of more throws a RangeError. */
const MOST_OF_A_SET = 2 ** 24 - 1;

/** The ids that came in a walk whose pages may repeat rows, so that each row comes out once. */
export class SeenIds {
  private readonly full: Set<number | bigint>[] = [];
  private ids = new Set<number | bigint>();
  private readonly floor: bigint;

  /** Every id up to `floor` counts as seen: an earlier walk in ascending order has brought them. */
  constructor(floor = 0n) {
    this.floor = floor;
  }

  /** The page without the rows that came before; these count as seen from now on. */
  fresh<P extends Page>(page: P): P {
    const rows = page.rows.filter((row) => this.addId(idOf(row) ?? 0n));
    if (rows.length === page.rows.length) return page;
    const [first] = rows;
    const last = rows.at(-1);
    const text = (row: Row | undefined) => (row === undefined ? null : String(idOf(row)));
    return { ...page, rows, firstId: text(first), lastId: text(last) };
  }

  /** False for an id that came before. */
  addId(id: bigint): boolean {
    if (id <= this.floor) return false;
    const key = id <= Number.MAX_SAFE_INTEGER ? Number(id) : id;
    if (this.ids.size === MOST_OF_A_SET) {
      this.full.push(this.ids);
      this.ids = new Set();
    }
    if (this.full.some((ids) => ids.has(key))) return false;
    const { size } = this.ids;
    return this.ids.add(key).size > size;
  }
}
