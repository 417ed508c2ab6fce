import { NO_RECURRENCE, type RecurrenceFields } from '../../catalog/recurrence/fields.ts';
import type { RecurrenceRule } from '../../catalog/recurrence/rule.ts';
import type { Complain, Pattern, RuleDraft } from './draft.ts';
import { dateOfCount, dateOfTime } from './ends.ts';
import { weekdayOf } from './weekdays.ts';

/** What is known of the start of an event without asking the server. */
export interface KnownStart {
  /** Local date `YYYY-MM-DD`. */
  readonly date?: string | undefined;
  /** Second of the local day. */
  readonly second?: number | undefined;
}

/**
 * The recurrence fields that say a rule. `from`: the date it counts from, that of the event when it is not given; null
 * in the fields when neither is known. Undefined when the rule needs what is not known; `complain` is called with what that is.
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

type WholePattern =
  | Extract<Pattern, { type: 'MONTHLY' }>
  | { readonly type: 'WEEKLY'; readonly days: NonNullable<Extract<Pattern, { type: 'WEEKLY' }>['days']> };

/** Weekly without days is the weekday of the first date (RFC 5545, 3.3.10). */
function completePattern(pattern: Pattern, first: string | undefined, complain: Complain): WholePattern | undefined {
  if (pattern.type === 'MONTHLY') return pattern;
  if (pattern.days !== undefined) return { type: 'WEEKLY', days: pattern.days };
  if (first !== undefined) return { type: 'WEEKLY', days: [weekdayOf(first)] };
  return complain('Weekdays are missing: name them with --on MON,WED, or BYDAY=MO,WE in a rule.');
}

function endOf(
  { pattern, frequency, end }: RuleDraft & { readonly pattern: WholePattern },
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
