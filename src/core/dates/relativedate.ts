import { isDate } from '../../catalog/fields/times.ts';
import { usageFailure } from '../failure.ts';

/** What a flag takes for a date, for messages and help. */
export const DATE_FORMS = 'YYYY-MM-DD, today, tomorrow, yesterday, -6m, +2w, monday, last-monday or month-start';

/** A date that a flag means. */
export interface ResolvedDate {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  /** It was given relative to today. */
  readonly isRelative: boolean;
}

/**
 * The date that a text means, in any letter case: `2026-11-22`, `today`, `-6m`, `last-monday`. `today`: `YYYY-MM-DD`;
 * `source`: the flag. Throws a Failure (exit 2) for a day that does not exist and for other text, with the right
 * spelling of a date such as 11/22/2026.
 */
export function resolveDate(text: string, today: string, source: string): ResolvedDate {
  const typed = text.trim();
  refuseOtherSpelling(typed, source);
  if (isDate(typed)) return { date: typed, isRelative: false };
  const date = relativeDate(typed, () => today, source);
  if (date === undefined) throw usageFailure(`${source} must be a date that exists: ${DATE_FORMS}.`, { source });
  return { date, isRelative: true };
}

/**
 * The date that a relative text means; undefined for text that is none, such as a date or a date-time. Throws a Failure
 * (exit 2) for one before the year 1 or after 9999.
 */
export function relativeDate(text: string, today: () => string, source: string): string | undefined {
  const rule = ruleOf(text.trim().toLowerCase());
  const date = rule && textOf(rule(dayOf(today())));
  if (date === undefined || isDate(date)) return date;
  throw usageFailure(`${source} lies too far from today.`, { source });
}

/**
 * Throws a Failure (exit 2) for a date that is written in another way than `2026-11-22`, which the message shows: month
 * first where both are possible. Other text is left to whoever reads it.
 */
export function refuseOtherSpelling(text: string, source: string): void {
  const [, first = '', , second = '', third = ''] = /^(\d{1,4})([/-])(\d{1,2})\2(\d{1,4})$/.exec(text.trim()) ?? [];
  const orders = [
    [first, second, third],
    [third, first, second],
    [third, second, first],
  ].filter(([year = '', month = '', day = '']) => year.length === 4 && month.length <= 2 && day.length <= 2);
  const dates = orders.map((parts) => parts.map((part) => part.padStart(2, '0')).join('-'));
  const date = dates.find(isDate);
  if (date === undefined || date === text.trim()) return;
  throw usageFailure(`${source} takes dates as YYYY-MM-DD: write ${date}.`, { source });
}

/** Days since 1970-01-01; its weekday follows by `weekdayOf`. */
type Day = number;
type Rule = (today: Day) => Day;

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

const WORDS: Readonly<Record<string, Rule>> = {
  today: (today) => today,
  tomorrow: (today) => today + 1,
  yesterday: (today) => today - 1,
  'month-start': (today) => monthOf(today, 0, 1),
  'last-month-start': (today) => monthOf(today, -1, 1),
  'year-start': (today) => monthOf(today, -utc(today).getUTCMonth(), 1),
  ...Object.fromEntries(
    WEEKDAYS.flatMap((name, weekday): [string, Rule][] => [
      [name, (today) => today + ((weekday - weekdayOf(today) + 7) % 7)],
      [`last-${name}`, (today) => today - ((weekdayOf(today) - weekday + 6) % 7) - 1],
    ]),
  ),
};

/** The words for dates, for completion and help. */
export const DATE_WORDS: readonly string[] = Object.keys(WORDS);

function ruleOf(text: string): Rule | undefined {
  if (Object.hasOwn(WORDS, text)) return WORDS[text];
  const [, sign, digits = '', unit = ''] = /^([+-])(\d{1,6})([dwmy])$/.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const count = sign === '-' ? -Number(digits) : Number(digits);
  if (unit === 'd' || unit === 'w') return (today) => today + count * (unit === 'w' ? 7 : 1);
  return (today) => monthOf(today, count * (unit === 'y' ? 12 : 1), utc(today).getUTCDate());
}

/** A day of the month that lies so many months from today's, its last one where it has no such day. */
function monthOf(today: Day, months: number, day: number): Day {
  const at = utc(today);
  at.setUTCDate(1);
  at.setUTCMonth(at.getUTCMonth() + months);
  const last = new Date(at);
  last.setUTCMonth(last.getUTCMonth() + 1, 0);
  at.setUTCDate(Math.min(day, last.getUTCDate()));
  return at.getTime() / DAY;
}

const DAY = 86_400_000;

function utc(day: Day): Date {
  return new Date(day * DAY);
}

function weekdayOf(day: Day): number {
  return utc(day).getUTCDay();
}

function dayOf(date: string): Day {
  return Date.parse(`${date}T00:00:00Z`) / DAY;
}

/** `YYYY-MM-DD`, or other text for years that have no such digits. */
function textOf(day: Day): string {
  const at = utc(day);
  return Number.isNaN(at.getTime()) ? 'never' : (at.toISOString().split('T')[0] ?? '');
}
