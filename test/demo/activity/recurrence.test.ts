import fc from 'fast-check';
import { DateTime } from 'luxon';
import { describe, expect, it } from 'vitest';
import { isOnMonthly, isOnWeekly, seriesFields } from '../../../src/demo/activity/recurrence.ts';
import { dayOf } from '../../../src/demo/calendar.ts';

const first = fc.integer({ min: dayOf('2023-01-01'), max: dayOf('2028-12-31') });
const dateOf = (day: number) => DateTime.fromMillis(day * 86_400_000, { zone: 'utc' });

describe('recurrence', () => {
  it('counts weeks from Monday', () => {
    fc.assert(
      fc.property(
        first,
        fc.nat(400),
        fc.integer({ min: 1, max: 5 }),
        fc.subarray([0, 1, 2, 3, 4, 5, 6]),
        (start, after, frequency, days) => {
          const rule = { type: 'WEEKLY', first: start, last: start + 400, frequency, days } as const;
          const date = dateOf(start + after);
          const weeks = date.startOf('week').diff(dateOf(start).startOf('week'), 'weeks').weeks;
          expect(isOnWeekly(rule, start + after)).toBe(weeks % frequency === 0 && days.includes(date.weekday % 7));
        },
      ),
    );
  });

  it.each([
    ['2026-03-10', 2, 2, true],
    ['2026-03-03', 2, 2, false],
    ['2026-03-17', 2, 2, false],
    ['2026-03-11', 2, 2, false],
    ['2026-03-01', 1, 0, true],
    ['2026-03-28', 4, 6, true],
  ])('finds whether %s is weekday %i of the month’s week %i', (date, week, day, expected) => {
    const rule = {
      type: 'MONTHLY',
      first: dayOf('2026-01-01'),
      last: dayOf('2026-12-31'),
      frequency: 1,
      week,
      day,
    } as const;
    expect(isOnMonthly(rule, dayOf(date))).toBe(expected);
  });

  it('writes the fields of each kind of rule, null where they do not apply', () => {
    const span = { first: dayOf('2026-01-05'), last: dayOf('2026-12-31') };
    expect(seriesFields({ type: 'WEEKLY', ...span, frequency: 2, days: [1, 0] })).toEqual({
      recurrenceType: 'WEEKLY',
      recurrenceStart: '2026-01-05',
      recurrenceEnd: '2026-12-31',
      recurrenceFrequency: 2,
      recurrenceDays: ['MONDAY', 'SUNDAY'],
      recurrenceWeek: null,
      recurrenceDay: null,
    });
    expect(seriesFields({ type: 'MONTHLY', ...span, frequency: 1, week: 2, day: 2 })).toMatchObject({
      recurrenceType: 'MONTHLY',
      recurrenceDays: null,
      recurrenceWeek: 'SECOND',
      recurrenceDay: 'TUESDAY',
    });
    expect(new Set(Object.values(seriesFields(null)))).toEqual(new Set([null]));
  });
});
