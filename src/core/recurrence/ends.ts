import { datesOf, endsInTime, type RecurrenceRule } from '../../catalog/recurrence/rule.ts';
import type { Complain, Pattern, RuleEnd } from './draft.ts';
import { isInWeek, weekdayOf } from './weekdays.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const DAY_SECONDS = 86_400;
/** Local times run from 12 hours behind UTC to 14 hours ahead of it. */
const BEHIND_MS = 12 * HOUR_MS;
const AHEAD_MS = 14 * HOUR_MS;

/**
 * The last date of a rule that ends after `count` occurrences; `rule` without its end. Undefined, told to `complain`,
 * when that is more than two years away (specification, Limits).
 */
export function dateOfCount(rule: RecurrenceRule, count: number, complain: Complain): string | undefined {
  // Two years are at most 731 days; what is beyond them is cut off.
  const end = dateOf(Date.parse(`${rule.start}T00:00:00Z`) + 732 * DAY_MS);
  const dates = datesOf({ ...rule, end }).filter((date) => endsInTime(rule.start, date));
  const last = dates[count - 1];
  if (last !== undefined) return last;
  return complain(
    `COUNT=${count} goes beyond two years after ${rule.start}, where a recurrence must end; COUNT can be at most ${dates.length}.`,
  );
}

/**
 * The last date of a rule that ends at a time. `startSecond`: second of the day at which the event starts, undefined
 * when it is not known. Undefined, told to `complain`, when it depends on what is not known here.
 */
export function dateOfTime(
  end: Extract<RuleEnd, { kind: 'time' }>,
  pattern: Pattern,
  startSecond: number | undefined,
  complain: Complain,
): string | undefined {
  const [earliest, latest] = end.utc
    ? [end.milliseconds - BEHIND_MS, end.milliseconds + AHEAD_MS]
    : [end.milliseconds, end.milliseconds];
  const from = lastDay(earliest, startSecond ?? DAY_SECONDS - 1);
  const to = lastDay(latest, startSecond ?? 0);
  for (let day = from + 1; day <= to; day++) {
    const date = dateOf(day * DAY_MS);
    if (!matches(pattern, date)) continue;
    const unknown = end.utc ? 'the time zone of the location' : 'the local time at which the event starts';
    const written = date.replaceAll('-', '');
    const before = dateOf((day - 1) * DAY_MS).replaceAll('-', '');
    return complain(
      `Whether UNTIL includes ${date} depends on ${unknown}, which is not known here; give the last date: UNTIL=${written} to include it, UNTIL=${before} not to.`,
    );
  }
  return dateOf(from * DAY_MS);
}

/** The last day, since 1970-01-01, on which an event that starts at that second starts at or before a wall-clock time. */
function lastDay(wall: number, second: number): number {
  return Math.floor((wall - second * 1000) / DAY_MS);
}

/** Whether a date could be one of the pattern, in whatever week or month it counts from. */
function matches(pattern: Pattern, date: string): boolean {
  const day = weekdayOf(date);
  if (pattern.type === 'WEEKLY') return pattern.days === undefined || pattern.days.includes(day);
  return pattern.day === day && isInWeek(date, pattern.week);
}

function dateOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}
