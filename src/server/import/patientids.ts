/** Maximum ranges, and ids, of a list: with more, what was imported counts as everything. */
export const MAX_RANGES = 2000;
const MAX_IDS = 200_000;

type Range = readonly [first: number, last: number];

/** Whose data was changed, as an entry of the audit log tells of it. */
export type TellablePatients = { readonly patients: readonly number[] } | { readonly all: true };

/** Whose data an import has changed: exact while they are few, or neighbours. Its memory does not grow with the file. */
export class PatientIds {
  /** Ascending, and no two of them neighbours. */
  private readonly ranges: Range[] = [];
  private count = 0;
  private overflown = false;

  /** Adds every id from the first to the last. */
  add(first: number, last = first): void {
    if (this.overflown) return;
    const at = this.firstEndingFrom(first - 1);
    let [from, to] = [first, last];
    let next = at;
    for (let range = this.ranges[next]; range !== undefined && range[0] <= last + 1; range = this.ranges[++next]) {
      from = Math.min(from, range[0]);
      to = Math.max(to, range[1]);
      this.count -= range[1] - range[0] + 1;
    }
    this.ranges.splice(at, next - at, [from, to]);
    this.count += to - from + 1;
    this.overflown = this.ranges.length > MAX_RANGES || this.count > MAX_IDS;
  }

  /** As an entry of the audit log tells of them. */
  told(): TellablePatients {
    if (this.overflown) return { all: true };
    const ids = this.ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, n) => first + n));
    return { patients: ids };
  }

  /** What is kept of it: ranges of ids, or null when they are too many. */
  kept(): readonly Range[] | null {
    return this.overflown ? null : this.ranges;
  }

  /** Reads what `kept` has given. */
  static of(kept: readonly Range[] | null): PatientIds {
    const ids = new PatientIds();
    if (kept === null) ids.overflown = true;
    else for (const [first, last] of kept) ids.add(first, last);
    return ids;
  }

  private firstEndingFrom(id: number): number {
    let [low, high] = [0, this.ranges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.ranges[middle] as Range)[1] < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
