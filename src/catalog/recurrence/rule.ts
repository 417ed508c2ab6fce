import { WEEKDAYS, type WEEKS, type Weekday } from '../resources/events.ts';

export type Week = (typeof WEEKS)[number];

interface Span {
  /** Local date `YYYY-MM-DD` from which weeks or months count; no occurrence is before it. */
  readonly start: string;
  /** Last local date, inclusive. */
  readonly end: string;
  /** Every so many weeks or months. */
  readonly frequency: number;
}

/** Some weekdays of every so many weeks; weeks begin on Monday (RFC 5545 with WKST=MO; D39). */
export interface WeeklyRule extends Span {
  readonly type: 'WEEKLY';
  readonly days: readonly Weekday[];
}

/** One weekday of a week of every so many months: the second Tuesday, the last Friday. */
export interface MonthlyRule extends Span {
  readonly type: 'MONTHLY';
  readonly week: Week;
  readonly day: Weekday;
}

export type RecurrenceRule = WeeklyRule | MonthlyRule;

/** Local dates of a rule, ascending, those before `from` left out; what they count from does not move with it. */
export function datesOf(rule: RecurrenceRule, from = rule.start): string[] {
  const first = Math.max(dayOf(rule.start), dayOf(from));
  const last = dayOf(rule.end);
  const days = rule.type === 'WEEKLY' ? weeklyDays(rule, last) : monthlyDays(rule, last);
  return days.filter((day) => day >= first && day <= last).map(dateOf);
}

/** Whether a recurrence that starts on one date may end on another: at most two years later (specification, Limits). */
export function endsInTime(start: string, end: string): boolean {
  return ordinal(end) <= ordinal(start) + 20_000;
}

function weeklyDays({ start, frequency, days }: WeeklyRule, last: number): number[] {
  const monday = dayOf(start) - sinceMonday(weekdayOf(dayOf(start)));
  const offsets = [...new Set(days.map((day) => sinceMonday(WEEKDAYS.indexOf(day))))].sort((a, b) => a - b);
  const found: number[] = [];
  for (let week = monday; week <= last; week += 7 * frequency) found.push(...offsets.map((offset) => week + offset));
  return found;
}

function monthlyDays({ start, frequency, week, day }: MonthlyRule, last: number): number[] {
  const [year = 1, month = 1] = start.split('-').map(Number);
  const found: number[] = [];
  for (let months = year * 12 + month - 1; firstOfMonth(months) <= last; months += frequency) {
    found.push(week === 'LAST' ? lastIn(months, day) : nthIn(months, day, NTH.indexOf(week)));
  }
  return found;
}

const NTH: readonly Week[] = ['FIRST', 'SECOND', 'THIRD', 'FOURTH'];

function nthIn(months: number, day: Weekday, weeksAfterFirst: number): number {
  const first = firstOfMonth(months);
  return first + daysUntil(day, weekdayOf(first)) + 7 * weeksAfterFirst;
}

function lastIn(months: number, day: Weekday): number {
  // The first such day of the next month is exactly a week after the last of this one.
  return nthIn(months + 1, day, 0) - 7;
}

/** Months count from January of year 0. */
function firstOfMonth(months: number): number {
  return new Date(0).setUTCFullYear(Math.floor(months / 12), months % 12, 1) / DAY_MS;
}

function daysUntil(day: Weekday, from: number): number {
  return (WEEKDAYS.indexOf(day) - from + 7) % 7;
}

/** 0 for Sunday; day 0 was a Thursday. */
function weekdayOf(day: number): number {
  return (((day + 4) % 7) + 7) % 7;
}

function sinceMonday(weekday: number): number {
  return (weekday + 6) % 7;
}

const DAY_MS = 86_400_000;

/** Days since 1970-01-01. */
function dayOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / DAY_MS;
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** `2028-02-29` as 20280229: two years later is 20300229, after that February and before its March. */
function ordinal(date: string): number {
  return Number(date.replaceAll('-', ''));
}
