import { type RecurrenceFields, ruleOf } from '../../catalog/recurrence/fields.ts';
import { ordinalOf, weekdayCode } from './weekdays.ts';

/**
 * The recurrence of an event as a rule of RFC 5545, undefined for an event that does not recur. `recurrenceStart` is
 * the DTSTART that the rule counts from and stands outside of it; WKST is the standard's own, Monday (D39).
 */
export function toRRule(fields: RecurrenceFields): string | undefined {
  // The rule does not hold the start, so one that is not known yet takes nothing away from it.
  const rule = ruleOf({ ...fields, recurrenceStart: fields.recurrenceStart ?? fields.recurrenceEnd });
  if (rule === undefined) return undefined;
  const byDay =
    rule.type === 'WEEKLY' ? rule.days.map(weekdayCode).join(',') : `${ordinalOf(rule.week)}${weekdayCode(rule.day)}`;
  const interval = rule.frequency === 1 ? '' : `;INTERVAL=${rule.frequency}`;
  return `FREQ=${rule.type}${interval};BYDAY=${byDay};UNTIL=${rule.end.replaceAll('-', '')}`;
}
