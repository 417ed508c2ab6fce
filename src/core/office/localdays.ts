import { FIRST_INSTANT, formatInstant, LAST_INSTANT } from '../../catalog/fields/times.ts';
import type { LocalClock } from '../output/localclock.ts';
import type { Days } from './calendar.ts';
import { localDateSql } from './dialect.ts';
import type { Question } from './report.ts';
import { allOf, idsSql, textSql } from './sqltext.ts';

/** Whether an instant is on one of these days at a location; both are expressions of SQL. */
export function onDaysSql(question: Question, { from, to }: Days, instant: string, location: string): string {
  return inRangeSql(question, (clock) => [startOf(from, clock), startOf(to, clock, 1)], instant, location);
}

/** Whether an instant is on a day or later at a location; both are expressions of SQL. */
export function fromDaySql(question: Question, day: string, instant: string, location: string): string {
  return inRangeSql(question, (clock) => [startOf(day, clock)], instant, location);
}

/** From an instant on, and before another one where there is one. */
type Range = readonly [since: string, until?: string];

function inRangeSql(
  question: Question,
  rangeOf: (clock: LocalClock) => Range,
  instant: string,
  location: string,
): string {
  const ranges = [question.otherwise, ...question.zones.map(({ clock }) => clock)].map(rangeOf);
  // One range that no zone exceeds, for the index; which zone it is decides within it.
  const since = ranges.map(([first]) => first).sort()[0] as string;
  const until = ranges
    .flatMap(([, last]) => last ?? [])
    .sort()
    .at(-1);
  const widest = rangeSql(instant, [since, until]);
  const exact = atLocationSql(question, location, (clock) => rangeSql(instant, rangeOf(clock)));
  return exact === widest ? widest : allOf(widest, exact);
}

/** The local date of an instant at a location; both are expressions of SQL. `days`: it is on one of them. */
export function dateAtSql(question: Question, { from, to }: Days, instant: string, location: string): string {
  return atLocationSql(question, location, (clock) =>
    localDateSql(instant, clock, startOf(from, clock), startOf(to, clock, 1)),
  );
}

/** An expression that depends on the clocks of a location. */
function atLocationSql(question: Question, location: string, expression: (clock: LocalClock) => string): string {
  const otherwise = expression(question.otherwise);
  const cases = question.zones
    .filter(({ locations }) => locations.length > 0)
    .map(({ clock, locations }) => ({ locations, value: expression(clock) }))
    .filter(({ value }) => value !== otherwise)
    .map(({ locations, value }) => `WHEN ${location} IN ${idsSql(locations)} THEN ${value}`);
  return cases.length === 0 ? otherwise : `CASE ${cases.join(' ')} ELSE ${otherwise} END`;
}

function rangeSql(instant: string, [since, until]: readonly [string, (string | undefined)?]): string {
  const lower = `${instant} >= ${textSql(since)}`;
  return until === undefined ? lower : `${lower} AND ${instant} < ${textSql(until)}`;
}

const DAY = 86_400_000;

/** When a day begins by a clock, or so many days later, UTC as a mirror stores it. */
function startOf(date: string, clock: LocalClock, later = 0): string {
  const day = new Date(Date.parse(date) + later * DAY);
  const instant = clock.instantOf({
    year: day.getUTCFullYear(),
    month: day.getUTCMonth() + 1,
    day: day.getUTCDate(),
    hour: 0,
    minute: 0,
    second: 0,
    millisecond: 0,
  });
  return formatInstant(Math.min(Math.max(instant, FIRST_INSTANT), LAST_INSTANT));
}
