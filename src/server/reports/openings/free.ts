/** From a first instant up to another one that is outside, UTC milliseconds. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Intervals by start, those that touch or overlap made one. */
export function merged(intervals: readonly Interval[]): Interval[] {
  const result: { from: number; to: number }[] = [];
  for (const { from, to } of intervals.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}

/** The parts of an interval that none of the busy ones takes, the first first. `busy` is merged. */
export function freeParts({ from, to }: Interval, busy: readonly Interval[]): Interval[] {
  const parts: Interval[] = [];
  let start = from;
  for (let index = firstEndingAfter(busy, from); index < busy.length && start < to; index++) {
    const taken = busy[index] as Interval;
    if (taken.from > start) parts.push({ from: start, to: Math.min(taken.from, to) });
    start = Math.max(start, taken.to);
  }
  if (start < to) parts.push({ from: start, to });
  return parts;
}

/** Index of the first merged interval that ends after an instant. */
function firstEndingAfter(busy: readonly Interval[], instant: number): number {
  let [low, high] = [0, busy.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((busy[middle] as Interval).to <= instant) low = middle + 1;
    else high = middle;
  }
  return low;
}
