import { NO_RECURRENCE, type RecurrenceFields } from '../../catalog/recurrence/fields.ts';
import { datesOf, endsInTime, type RecurrenceRule } from '../../catalog/recurrence/rule.ts';
import type { Complain, Pattern, RuleDraft, RuleEnd } from './draft.ts';
import { isInWeek, weekdayOf } from './weekdays.ts';

/** What is known of the start of an event without asking the server. */
export interface KnownStart {
  /** Local date `YYYY-MM-DD`. */
  readonly date?: string | undefined;
  /** Second of the local day. */
  readonly second?: number | undefined;
}

/**
 * The recurrence fields of a rule. `from`: the date it counts from, that of the event when it is not given; null
 * in the fields when neither is known. Undefined, reported to `complain`, when the rule needs what is not known.
 */
export function recurrenceOfDraft(
  draft: RuleDraft,
  from: string | undefined,
  start: KnownStart,
  complain: Complain,
): RecurrenceFields | undefined {
  const first = from ?? start.date;
  const pattern = completePattern(draft.pattern, first, complain);
  if (pattern === undefined) return undefined;
  const end = endOf({ ...draft, pattern }, first, start.second, complain);
  if (end === undefined) return undefined;
  const span = {
    ...NO_RECURRENCE,
    recurrenceType: pattern.type,
    recurrenceStart: first ?? null,
    recurrenceEnd: end,
    recurrenceFrequency: draft.frequency,
  };
  return pattern.type === 'WEEKLY'
    ? { ...span, recurrenceDays: pattern.days }
    : { ...span, recurrenceWeek: pattern.week, recurrenceDay: pattern.day };
}

type CompletePattern =
  | Extract<Pattern, { type: 'MONTHLY' }>
  | { readonly type: 'WEEKLY'; readonly days: NonNullable<Extract<Pattern, { type: 'WEEKLY' }>['days']> };

/** Weekly without days is the weekday of the first date (RFC 5545, 3.3.10). */
function completePattern(pattern: Pattern, first: string | undefined, complain: Complain): CompletePattern | undefined {
  if (pattern.type === 'MONTHLY') return pattern;
  if (pattern.days !== undefined) return { type: 'WEEKLY', days: pattern.days };
  if (first !== undefined) return { type: 'WEEKLY', days: [weekdayOf(first)] };
  return complain('Weekdays are missing: name them with --on MON,WED, or BYDAY=MO,WE in a rule.');
}

function endOf(
  { pattern, frequency, end }: RuleDraft & { readonly pattern: CompletePattern },
  first: string | undefined,
  second: number | undefined,
  complain: Complain,
): string | undefined {
  if (end === undefined) {
    return complain('A recurrence must end: give --until YYYY-MM-DD, at most two years after it starts.');
  }
  if (end.kind === 'date') return end.date;
  if (end.kind === 'time') return dateOfTime(end, pattern, second, complain);
  if (first === undefined) {
    return complain(
      `COUNT=${end.count} can be turned into a last date only when the first is known: add --from YYYY-MM-DD, or use UNTIL.`,
    );
  }
  const rule: RecurrenceRule = { ...pattern, frequency, start: first, end: first };
  return dateOfCount(rule, end.count, complain);
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const DAY_SECONDS = 86_400;
/** Local times run from 12 hours behind UTC to 14 hours ahead of it. */
const BEHIND_MS = 12 * HOUR_MS;
const AHEAD_MS = 14 * HOUR_MS;

/**
 * The last date of a rule that ends after `count` occurrences; `rule` without its end. Undefined, reported to `complain`,
 * when that is more than two years away (specification, Limits).
 */
function dateOfCount(rule: RecurrenceRule, count: number, complain: Complain): string | undefined {
  // Two years are at most 731 days; what is beyond them is cut off.
  const end = dateOf(Date.parse(`${rule.start}T00:00:00Z`) + 732 * DAY_MS);
  const dates = datesOf({ ...rule, end }).filter((date) => endsInTime(rule.start, date));
  const wrong = `COUNT=${count} goes beyond two years after ${rule.start}, where a recurrence must end; COUNT can be at most ${dates.length}.`;
  return dates[count - 1] ?? complain(wrong);
}

/**
 * The last date of a rule that ends at a time. `startSecond`: second of the day at which the event starts, undefined
 * when it is not known. Undefined, reported to `complain`, when it depends on what is not known here.
 */
function dateOfTime(
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

/** The last day, since 1970-01-01, on which an event with that start second starts by a wall-clock time. */
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
