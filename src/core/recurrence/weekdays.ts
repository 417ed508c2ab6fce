import type { Week } from '../../catalog/recurrence/rule.ts';
import { WEEKDAYS, WEEKS, type Weekday } from '../../catalog/resources/events.ts';

/** The weekday that at least two letters abbreviate: `MO`, `Tues`, `FRIDAY`, in any letter case. */
export function weekdayNamed(text: string): Weekday | undefined {
  const name = text.toUpperCase();
  return name.length < 2 ? undefined : WEEKDAYS.find((day) => day.startsWith(name));
}

/** The two letters of a weekday in RFC 5545: `MO`. */
export function weekdayCode(day: Weekday): string {
  return day.slice(0, 2);
}

/** The weekday of a date `YYYY-MM-DD`. */
export function weekdayOf(date: string): Weekday {
  return WEEKDAYS[new Date(`${date}T00:00:00Z`).getUTCDay()] as Weekday;
}

/** Ordinals of RFC 5545: -1 is the last week. */
const ORDINALS: Readonly<Record<Week, number>> = { FIRST: 1, SECOND: 2, THIRD: 3, FOURTH: 4, LAST: -1 };

/** The week of the month that an ordinal of RFC 5545 names; undefined for those that the API does not have. */
export function weekOfOrdinal(ordinal: number): Week | undefined {
  return WEEKS.find((week) => ORDINALS[week] === ordinal);
}

/** Whether a date is that weekday of that week of its month. */
export function isInWeek(date: string, week: Week): boolean {
  const at = new Date(`${date}T00:00:00Z`);
  const day = at.getUTCDate();
  if (week !== 'LAST') return Math.ceil(day / 7) === ORDINALS[week];
  return new Date(at.getTime() + 7 * 86_400_000).getUTCMonth() !== at.getUTCMonth();
}
