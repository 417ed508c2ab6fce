import { idOf, type Row } from './page.ts';
import { SeenIds } from './seenids.ts';

const INITIAL_BYTES = 4096;

/** The ids of rows in ascending order, in a byte or two each: what lies between an id and the one before it. */
export class IdLog {
  private bytes = new Uint8Array(INITIAL_BYTES);
  private length = 0;
  private last: bigint;
  private readonly floor: bigint;

  /** Every id up to `floor` counts as logged. */
  constructor(floor: bigint) {
    this.floor = floor;
    this.last = floor;
  }

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      const id = idOf(row) ?? this.last;
      this.push(id - this.last);
      this.last = id;
    }
  }

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
      if (this.length === this.bytes.length) this.grow();
      this.bytes[this.length++] = Number(left & 0x7fn) | (left > 0x7fn ? 0x80 : 0);
      if (left <= 0x7fn) return;
    }
  }

  private grow(): void {
    const larger = new Uint8Array(this.bytes.length * 2);
    larger.set(this.bytes);
    this.bytes = larger;
  }
}
