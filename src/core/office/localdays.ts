import { FIRST_INSTANT, formatInstant, LAST_INSTANT } from '../../catalog/fields/times.ts';
import type { LocalClock } from '../output/localclock.ts';
import type { Days } from './calendar.ts';
import { localDateSql } from './dialect.ts';
import type { Question } from './report.ts';
import { allOf, idsSql, textSql } from './sqltext.ts';

/** Whether an instant is on one of these days at a location; both are expressions of SQL. */
export function onDaysSql(question: Question, { from, to }: Days, instant: string, location: string): string {
  const rangeAt = (clock: LocalClock) => [startOf(from, clock), startOf(to, clock, 1)] as const;
  const ranges = clocksOf(question).map(rangeAt);
  // One range that no zone exceeds, for the index; which zone it is decides within it.
  const widest = rangeSql(
    instant,
    ranges.map(([since]) => since).sort()[0],
    ranges
      .map(([, until]) => until)
      .sort()
      .at(-1),
  );
  const exact = atLocationSql(question, location, (clock) => rangeSql(instant, ...rangeAt(clock)));
  return exact === widest ? widest : allOf(widest, exact);
}

/** Whether an instant is on a day or later at a location; both are expressions of SQL. */
export function fromDaySql(question: Question, day: string, instant: string, location: string): string {
  return atLocationSql(question, location, (clock) => rangeSql(instant, startOf(day, clock)));
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

function clocksOf({ zones, otherwise }: Question): LocalClock[] {
  return [otherwise, ...zones.map(({ clock }) => clock)];
}

function rangeSql(instant: string, since = '', until = ''): string {
  const lower = `${instant} >= ${textSql(since)}`;
  return until === '' ? lower : `${lower} AND ${instant} < ${textSql(until)}`;
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
