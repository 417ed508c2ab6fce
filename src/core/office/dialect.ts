import { offsetsOf } from '../mirror/sqlite/offsets.ts';
import type { LocalClock } from '../output/localclock.ts';

/** What SQLite writes otherwise than PostgreSQL; all else in the statements of reports is SQL of both. */

/** Years in which changes of the clock are looked for; they are not known for longer. */
const CENTURY = 100;

/** The local date by a clock of an instant, which is between two others: UTC as a mirror stores it. */
export function localDateSql(instant: string, clock: LocalClock, since: string, until: string): string {
  const [first, last] = [since, until].map((text) => Number(text.slice(0, 4))) as [number, number];
  const offsets = offsetsOf(clock.zone, [first - 1, Math.min(last + 1, first + CENTURY)]);
  const date = (seconds = 0) => `date(${instant}, '${seconds} seconds')`;
  const earliest = date(offsets.findLast((offset) => offset.since <= since)?.seconds);
  const cases = offsets
    .filter((offset) => offset.since > since && offset.since < until)
    .map((offset) => `WHEN ${instant} >= '${offset.since}' THEN ${date(offset.seconds)}`);
  return cases.length === 0 ? earliest : `CASE ${cases.toReversed().join(' ')} ELSE ${earliest} END`;
}

/** Whether a text has a digit. */
export function hasDigitSql(text: string): string {
  return `${text} GLOB '*[0-9]*'`;
}
