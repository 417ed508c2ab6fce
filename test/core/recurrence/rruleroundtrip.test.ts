import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_RECURRENCE, type RecurrenceFields, ruleOf } from '../../../src/catalog/recurrence/fields.ts';
import { recurrenceOfDraft } from '../../../src/core/recurrence/recurrence.ts';
import { readRRule } from '../../../src/core/recurrence/rrule.ts';
import { weekdayCode } from '../../../src/core/recurrence/weekdays.ts';
import { rules } from '../../server/recurrence/generatedrules.ts';
import { complaints } from './complaints.ts';

const ORDINALS = { FIRST: 1, SECOND: 2, THIRD: 3, FOURTH: 4, LAST: -1 };

/**
 * The recurrence of an event as a rule of RFC 5545, undefined for an event that does not recur. `recurrenceStart` is
 * the DTSTART that the rule counts from and stands outside of it; WKST is the standard's own, Monday (D39).
 */
function toRRule(fields: RecurrenceFields): string | undefined {
  // The rule does not hold the start, so one that is not known yet takes nothing away from it.
  const rule = ruleOf({ ...fields, recurrenceStart: fields.recurrenceStart ?? fields.recurrenceEnd });
  if (rule === undefined) return undefined;
  const byDay =
    rule.type === 'WEEKLY' ? rule.days.map(weekdayCode).join(',') : `${ORDINALS[rule.week]}${weekdayCode(rule.day)}`;
  const interval = rule.frequency === 1 ? '' : `;INTERVAL=${rule.frequency}`;
  return `FREQ=${rule.type}${interval};BYDAY=${byDay};UNTIL=${rule.end.replaceAll('-', '')}`;
}

const span = { recurrenceStart: '2026-03-02', recurrenceEnd: '2027-03-01', recurrenceFrequency: 2 };
const weekly: RecurrenceFields = {
  ...NO_RECURRENCE,
  ...span,
  recurrenceType: 'WEEKLY',
  recurrenceDays: ['MONDAY', 'WEDNESDAY'],
};
const monthly: RecurrenceFields = {
  ...NO_RECURRENCE,
  ...span,
  recurrenceType: 'MONTHLY',
  recurrenceWeek: 'LAST',
  recurrenceDay: 'FRIDAY',
};

describe('recurrence fields as a rule', () => {
  it.each<[name: string, fields: RecurrenceFields, rule: string | undefined]>([
    ['WEEKLY', weekly, 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;UNTIL=20270301'],
    ['every week', { ...weekly, recurrenceFrequency: 1 }, 'FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20270301'],
    ['MONTHLY', monthly, 'FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR;UNTIL=20270301'],
    [
      'a week of the month',
      { ...monthly, recurrenceWeek: 'SECOND' },
      'FREQ=MONTHLY;INTERVAL=2;BYDAY=2FR;UNTIL=20270301',
    ],
    ['no start', { ...weekly, recurrenceStart: null }, 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;UNTIL=20270301'],
    ['none', NO_RECURRENCE, undefined],
    ['no end', { ...weekly, recurrenceEnd: null }, undefined],
    ['no days', { ...weekly, recurrenceDays: null }, undefined],
  ])('%s', (_name, fields, rule) => {
    expect(toRRule(fields)).toBe(rule);
  });

  it('say the same when they are read again', () => {
    fc.assert(
      fc.property(rules, ({ type, start, end, frequency, days, week, day }) => {
        const fields = {
          recurrenceType: type,
          recurrenceStart: start,
          recurrenceEnd: end,
          recurrenceFrequency: frequency,
          recurrenceDays: days ?? null,
          recurrenceWeek: week ?? null,
          recurrenceDay: day ?? null,
        } as RecurrenceFields;
        const text = toRRule(fields) ?? '';
        const { complain, told } = complaints();
        const draft = readRRule(text, complain);
        expect(draft && recurrenceOfDraft(draft, start, {}, complain)).toEqual(fields);
        expect(told).toEqual([]);
        expect(toRRule(fields)).toBe(text);
      }),
    );
  });
});
