import { datesOf, type RecurrenceRule } from '../../catalog/recurrence/rule.ts';
import type { ZoneClock } from './zoneclock.ts';

/**
 * UTC milliseconds at which the occurrences of a rule start, ascending: on each of its dates at the same wall time
 * (D39). `timeOfDay`: wall milliseconds since midnight. Dates before `from` are left out.
 */
export function occurrenceStarts(rule: RecurrenceRule, timeOfDay: number, clock: ZoneClock, from?: string): number[] {
  return datesOf(rule, from).map((date) => clock.instantOf(Date.parse(`${date}T00:00:00Z`) + timeOfDay));
}
