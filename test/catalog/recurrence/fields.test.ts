import { describe, expect, it } from 'vitest';
import {
  checkRecurrence,
  NO_RECURRENCE,
  type RecurrenceFields,
  recurrenceOf,
  recurs,
  ruleOf,
} from '../../../src/catalog/recurrence/fields.ts';

const span = { recurrenceStart: '2026-03-02', recurrenceEnd: '2026-04-30', recurrenceFrequency: 1 };
const weekly: RecurrenceFields = { ...NO_RECURRENCE, ...span, recurrenceType: 'WEEKLY', recurrenceDays: ['MONDAY'] };
const monthly: RecurrenceFields = {
  ...NO_RECURRENCE,
  ...span,
  recurrenceType: 'MONTHLY',
  recurrenceWeek: 'SECOND',
  recurrenceDay: 'TUESDAY',
};

describe('recurrence fields', () => {
  it.each<[name: string, fields: RecurrenceFields, expected: readonly string[]]>([
    ['none', NO_RECURRENCE, []],
    ['WEEKLY', weekly, []],
    ['MONTHLY', monthly, []],
    ['no start yet', { ...weekly, recurrenceStart: null }, []],
    ['no type', { ...weekly, recurrenceType: null }, ['field.missing recurrenceType']],
    ['no end', { ...weekly, recurrenceEnd: null }, ['field.missing recurrenceEnd']],
    ['no frequency', { ...monthly, recurrenceFrequency: null }, ['field.missing recurrenceFrequency']],
    ['WEEKLY without days', { ...weekly, recurrenceDays: null }, ['field.missing recurrenceDays']],
    ['MONTHLY without week', { ...monthly, recurrenceWeek: null }, ['field.missing recurrenceWeek']],
    ['MONTHLY without day', { ...monthly, recurrenceDay: null }, ['field.missing recurrenceDay']],
    [
      'one field alone',
      { ...NO_RECURRENCE, recurrenceDay: 'MONDAY' },
      ['field.missing recurrenceType', 'field.missing recurrenceEnd', 'field.missing recurrenceFrequency'],
    ],
    ['WEEKLY with a week', { ...weekly, recurrenceWeek: 'LAST' }, ['field.conflict recurrenceWeek']],
    ['WEEKLY with a day', { ...weekly, recurrenceDay: 'MONDAY' }, ['field.conflict recurrenceDay']],
    ['MONTHLY with days', { ...monthly, recurrenceDays: ['MONDAY'] }, ['field.conflict recurrenceDays']],
    ['an end before the start', { ...weekly, recurrenceEnd: '2026-03-01' }, ['field.conflict recurrenceEnd']],
    ['an end on the start', { ...weekly, recurrenceEnd: '2026-03-02' }, []],
    ['an end two years later', { ...weekly, recurrenceEnd: '2028-03-02' }, []],
    ['an end later than that', { ...weekly, recurrenceEnd: '2028-03-03' }, ['field.range recurrenceEnd']],
    ['WEEKLY without occurrence', { ...weekly, recurrenceStart: '2026-04-28' }, ['field.conflict recurrenceEnd']],
    ['MONTHLY without occurrence', { ...monthly, recurrenceEnd: '2026-03-09' }, ['field.conflict recurrenceEnd']],
  ])('%s', (_name, fields, expected) => {
    expect(checkRecurrence(fields).map(({ code, source }) => `${code} ${source}`)).toEqual(expected);
  });

  it.each<[string, Partial<RecurrenceFields>, string]>([
    ['no type', { recurrenceType: null }, 'recurrenceType is required for a recurring event.'],
    ['no days', { recurrenceDays: null }, 'recurrenceDays is required for a WEEKLY recurrence.'],
    ['a week', { recurrenceWeek: 'LAST' }, 'recurrenceWeek does not go with recurrenceType WEEKLY; leave it out.'],
    // Not also that no day matches.
    ['an early end', { recurrenceEnd: '2026-03-01' }, 'recurrenceEnd must not be before recurrenceStart (2026-03-02).'],
    ['no Monday', { recurrenceStart: '2026-04-28' }, 'No day from 2026-04-28 to 2026-04-30 matches the recurrence.'],
  ])('says what is wrong with %s', (_name, own, description) => {
    expect(checkRecurrence({ ...weekly, ...own }).map((problem) => problem.description)).toEqual([description]);
  });

  it('are those of an event that tell how it recurs', () => {
    const event = { ...weekly, id: 5, title: 'Huddle' };
    expect(recurrenceOf(event)).toEqual(weekly);
  });

  it('says no more of fields that could not be read', () => {
    const unread = new Set(['recurrenceDays', 'recurrenceEnd']);
    expect(checkRecurrence({ ...weekly, recurrenceDays: null, recurrenceEnd: null }, unread)).toEqual([]);
    const sources = checkRecurrence(NO_RECURRENCE, new Set(['recurrenceType'])).map(({ source }) => source);
    expect(sources).toEqual(['recurrenceEnd', 'recurrenceFrequency']);
  });

  it('make a rule only when all that it needs is there', () => {
    expect(ruleOf(weekly)).toEqual({
      type: 'WEEKLY',
      start: '2026-03-02',
      end: '2026-04-30',
      frequency: 1,
      days: ['MONDAY'],
    });
    expect(ruleOf(monthly)).toEqual({
      type: 'MONTHLY',
      start: '2026-03-02',
      end: '2026-04-30',
      frequency: 1,
      week: 'SECOND',
      day: 'TUESDAY',
    });
    for (const name of [
      'recurrenceType',
      'recurrenceStart',
      'recurrenceEnd',
      'recurrenceFrequency',
      'recurrenceDays',
    ]) {
      expect(ruleOf({ ...weekly, [name]: null }), name).toBeUndefined();
    }
    for (const name of ['recurrenceType', 'recurrenceWeek', 'recurrenceDay']) {
      expect(ruleOf({ ...monthly, [name]: null }), name).toBeUndefined();
    }
  });

  it('recur when any has a value', () => {
    expect(recurs(NO_RECURRENCE)).toBe(false);
    for (const name of Object.keys(NO_RECURRENCE) as (keyof RecurrenceFields)[]) {
      const value = weekly[name] ?? monthly[name];
      expect(recurs({ ...NO_RECURRENCE, [name]: value } as RecurrenceFields), name).toBe(true);
    }
  });
});
