import fc from 'fast-check';
import { DateTime } from 'luxon';
import { describe, expect, it } from 'vitest';
import { resolveDate } from '../../../src/core/dates/relativedate.ts';
import { Failure } from '../../../src/core/failure.ts';

// A Wednesday.
const TODAY = '2026-11-25';

describe('resolveDate', () => {
  it.each([
    ['2024-02-29', '2024-02-29'],
    ['today', '2026-11-25'],
    ['Tomorrow', '2026-11-26'],
    ['YESTERDAY', '2026-11-24'],
    ['monday', '2026-11-30'],
    ['wednesday', '2026-11-25'],
    ['thursday', '2026-11-26'],
    ['tuesday', '2026-12-01'],
    ['last-wednesday', '2026-11-18'],
    ['last-thursday', '2026-11-19'],
    ['Last-Tuesday', '2026-11-24'],
    ['month-start', '2026-11-01'],
    ['last-month-start', '2026-10-01'],
    ['year-start', '2026-01-01'],
    ['-6m', '2026-05-25'],
    ['+2W', '2026-12-09'],
    ['-0d', '2026-11-25'],
  ])('%s', (text, date) => {
    expect(resolveDate(text, TODAY, '--from')).toEqual({ date, isRelative: text !== date });
  });

  it.each([
    ['2026-08-31', '-6m', '2026-02-28'],
    ['2024-08-31', '-6m', '2024-02-29'],
    ['2024-02-29', '-1y', '2023-02-28'],
    ['2024-02-29', '+4y', '2028-02-29'],
    ['2026-01-31', '+1m', '2026-02-28'],
    ['2026-01-15', 'last-month-start', '2025-12-01'],
    ['2026-11-22', 'sunday', '2026-11-22'],
    ['2026-11-22', 'last-sunday', '2026-11-15'],
  ])('%s, %s', (today, text, date) => {
    expect(resolveDate(text, today, '--from').date).toBe(date);
  });

  it('counts as another calendar does', () => {
    const units = { d: 'days', w: 'weeks', m: 'months', y: 'years' } as const;
    const day = fc.date({ min: new Date('1900-01-01'), max: new Date('2200-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(
        day,
        fc.integer({ min: -1500, max: 1500 }),
        fc.constantFrom('d', 'w', 'm', 'y'),
        (at, count, unit) => {
          const today = at.toISOString().slice(0, 10);
          const text = `${count < 0 ? '' : '+'}${count}${unit}`;
          const expected = DateTime.fromISO(today, { zone: 'utc' }).plus({ [units[unit]]: count });
          expect(resolveDate(text, today, '--from').date).toBe(expected.toISODate());
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    ['11/22/2026', 'write 2026-11-22.'],
    ['11-22-2026', 'write 2026-11-22.'],
    ['2026/11/22', 'write 2026-11-22.'],
    ['22/11/2026', 'write 2026-11-22.'],
    ['5/6/2026', 'write 2026-05-06.'],
    ['2026-1-5', 'write 2026-01-05.'],
    ['2026-02-30', 'a date that exists'],
    ['02/30/2026', 'a date that exists'],
    ['2026-13-01', 'a date that exists'],
    ['10.3.2026', 'a date that exists'],
    ['6m', 'must be a date that exists: YYYY-MM-DD, today'],
    ['-6 m', 'must be a date'],
    ['-6h', 'must be a date'],
    ['', 'must be a date'],
    ['last-today', 'must be a date'],
    ['constructor', 'must be a date'],
    ['-9999y', 'too far'],
    ['+999999y', 'too far'],
  ])('refuses %s', (text, message) => {
    expect(() => resolveDate(text, TODAY, '--from')).toThrow(message);
    try {
      resolveDate(text, TODAY, '--from');
    } catch (cause) {
      expect(cause).toBeInstanceOf(Failure);
      expect((cause as Failure).exitCode).toBe(2);
      expect((cause as Failure).items[0]?.source).toBe('--from');
    }
  });
});
