import { dateText, WEEKDAYS, weekdayOf } from '../calendar.ts';

interface Span {
  /** First and last day, both included. */
  readonly first: number;
  readonly last: number;
  /** In weeks or months. */
  readonly frequency: number;
}

export interface WeeklyRule extends Span {
  readonly type: 'WEEKLY';
  /** 0 for Sunday to 6 for Saturday. */
  readonly days: readonly number[];
}

/** The nth weekday of each month; only a frequency of 1. */
export interface MonthlyRule extends Span {
  readonly type: 'MONTHLY';
  readonly frequency: 1;
  /** 1 to 4. */
  readonly week: number;
  readonly day: number;
}

export type Rule = WeeklyRule | MonthlyRule;

const WEEKS = ['FIRST', 'SECOND', 'THIRD', 'FOURTH'] as const;

/** Whether a day within the span belongs to the series; weeks start on Monday (D39). */
export function isOnWeekly({ first, frequency, days }: WeeklyRule, day: number): boolean {
  const weeks = (mondayOf(day) - mondayOf(first)) / 7;
  return weeks % frequency === 0 && days.includes(weekdayOf(day));
}

export function isOnMonthly({ week, day: weekday }: MonthlyRule, day: number): boolean {
  const inMonth = new Date(day * 86_400_000).getUTCDate();
  return weekdayOf(day) === weekday && Math.ceil(inMonth / 7) === week;
}

function mondayOf(day: number): number {
  return day - ((weekdayOf(day) + 6) % 7);
}

/** The wire fields of a rule, all null for a single event. */
export function seriesFields(rule: Rule | null): Record<string, unknown> {
  const weekly = rule?.type === 'WEEKLY' ? rule : null;
  const monthly = rule?.type === 'MONTHLY' ? rule : null;
  return {
    recurrenceType: rule?.type ?? null,
    recurrenceStart: rule && dateText(rule.first),
    recurrenceEnd: rule && dateText(rule.last),
    recurrenceFrequency: rule?.frequency ?? null,
    recurrenceDays: weekly === null ? null : weekly.days.map((day) => WEEKDAYS[day]),
    recurrenceWeek: monthly && WEEKS[monthly.week - 1],
    recurrenceDay: monthly && WEEKDAYS[monthly.day],
  };
}
