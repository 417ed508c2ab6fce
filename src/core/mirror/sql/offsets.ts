import { LocalClock } from '../../output/localclock.ts';

const MINUTE = 60_000;
/** No clocks change twice within it. */
const WEEK = 7 * 24 * 60 * MINUTE;

/** Years whose changes of the clock are known; before and after them the nearest offset holds. */
const YEARS: readonly [number, number] = [1970, 2070];

/** From an instant on, the clocks of a zone are ahead of UTC by so many seconds. */
export interface Offset {
  /** UTC; empty: from the beginning. */
  readonly since: string;
  readonly seconds: number;
}

/** When the clocks of a zone change between the beginnings of two years, for what any SQLite program can read. */
export function offsetsOf(zone: string, years = YEARS): Offset[] {
  const clock = new LocalClock(zone);
  const ahead = (instant: number) => Math.round(clock.offsetAt(instant) / 1000);
  const [start, end] = years.map((year) => Date.UTC(year, 0, 1)) as [number, number];
  const found: Offset[] = [{ since: '', seconds: ahead(start) }];
  for (let week = start, before = ahead(start); week < end; week += WEEK) {
    const after = ahead(week + WEEK);
    if (after === before) continue;
    const change = firstWith(week, week + WEEK, (instant) => ahead(instant) === after);
    found.push({ since: new Date(change).toISOString(), seconds: after });
    before = after;
  }
  return found;
}

/** The first minute in a range at which something holds that holds at its end. */
function firstWith(start: number, end: number, holds: (instant: number) => boolean): number {
  let [low, high] = [start / MINUTE, end / MINUTE];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle * MINUTE)) high = middle;
    else low = middle;
  }
  return high * MINUTE;
}
