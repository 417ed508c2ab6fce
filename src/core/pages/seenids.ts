import { endsOf, idOf, orderOf, type Page, type Row } from './page.ts';

/** A Set of more throws a RangeError. */
const MAX_SET_SIZE = 2 ** 24 - 1;

/** The ids that arrived in a walk whose pages may repeat rows, so that each row is yielded once. */
export class SeenIds {
  private readonly full: Set<number | bigint>[] = [];
  private ids = new Set<number | bigint>();

  /** Every id up to `floor` counts as seen: an earlier walk in ascending order has brought them. */
  constructor(
    private readonly floor = 0n,
    private readonly maxSetSize = MAX_SET_SIZE,
  ) {}

  /** The page without the rows that were seen before; its rows count as seen from now on. */
  fresh<P extends Page>(page: P): P {
    const rows = page.rows.filter((row) => this.addId(orderOf(row)));
    if (rows.length === page.rows.length) return page;
    return { ...page, rows, ...endsOf(rows) };
  }

  /** False for an id that was seen before. */
  addId(id: bigint): boolean {
    if (id <= this.floor) return false;
    const key = id <= Number.MAX_SAFE_INTEGER ? Number(id) : id;
    if (this.ids.size === this.maxSetSize) {
      this.full.push(this.ids);
      this.ids = new Set();
    }
    if (this.full.some((ids) => ids.has(key))) return false;
    const { size } = this.ids;
    return this.ids.add(key).size > size;
  }
}

const INITIAL_BYTES = 4096;

/** The ids of rows in ascending order, in a byte or two each: the difference between an id and the one before it. */
export class IdLog {
  private bytes = new Uint8Array(INITIAL_BYTES);
  private length = 0;
  private last: bigint;

  /** Every id up to `floor` counts as logged. */
  constructor(private readonly floor: bigint) {
    this.last = floor;
  }

  /** Logs the ids of rows, which must increase. */
  add(rows: readonly Row[]): void {
    for (const row of rows) {
      const id = idOf(row) ?? this.last;
      this.push(id - this.last);
      this.last = id;
    }
  }

  /** The logged ids as SeenIds. */
  seen(): SeenIds {
    const seen = new SeenIds(this.floor);
    let id = this.floor;
    for (let at = 0; at < this.length; ) {
      let step = 0n;
      for (let shift = 0n, more = true; more; shift += 7n) {
        const byte = this.bytes[at++] ?? 0;
        step |= BigInt(byte & 0x7f) << shift;
        more = byte > 0x7f;
      }
      id += step;
      seen.addId(id);
    }
    return seen;
  }

  /** Seven bits a byte, the lowest first; the highest bit says that more follow. */
  private push(step: bigint): void {
    if (step < 0n) throw new RangeError('Ids of a log have to increase.');
    for (let left = step; ; left >>= 7n) {
      if (this.length === this.bytes.length) {
        const larger = new Uint8Array(this.bytes.length * 2);
        larger.set(this.bytes);
        this.bytes = larger;
      }
      this.bytes[this.length++] = Number(left & 0x7fn) | (left > 0x7fn ? 0x80 : 0);
      if (left <= 0x7fn) return;
    }
  }
}
