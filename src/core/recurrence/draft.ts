import type { Week } from '../../catalog/recurrence/rule.ts';
import type { Weekday } from '../../catalog/resources/events.ts';

/** Which days recur; `days` is undefined when the first day of the recurrence implies it (RFC 5545, BYDAY left out). */
export type Pattern =
  | { readonly type: 'WEEKLY'; readonly days: readonly Weekday[] | undefined }
  | { readonly type: 'MONTHLY'; readonly week: Week; readonly day: Weekday };

/**
 * Where a rule ends: on a local date (inclusive), after so many occurrences, or at a time (inclusive), which is
 * milliseconds of a UTC instant or, not `utc`, of a wall clock read as UTC.
 */
export type RuleEnd =
  | { readonly kind: 'date'; readonly date: string }
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'time'; readonly milliseconds: number; readonly utc: boolean };

/** A rule as written, before its start date is known. */
export interface RuleDraft {
  readonly pattern: Pattern;
  /** Every so many weeks or months, 1 to 52. */
  readonly frequency: number;
  readonly end: RuleEnd | undefined;
}

/** Callback for a sentence that says what is wrong and what would be right; its undefined can be returned. */
export type Complain = (description: string) => undefined;
