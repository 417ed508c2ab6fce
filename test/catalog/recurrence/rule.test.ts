import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { datesOf, endsInTime, type RecurrenceRule } from '../../../src/catalog/recurrence/rule.ts';
import { walkedDates } from '../../server/recurrence/calendarwalk.ts';
import { dates, rules } from '../../server/recurrence/generatedrules.ts';

const weekly = (start: string, end: string, frequency: number, ...days: readonly string[]) =>
  ({ type: 'WEEKLY', start, end, frequency, days }) as RecurrenceRule;
const monthly = (start: string, end: string, frequency: number, week: string, day: string) =>
  ({ type: 'MONTHLY', start, end, frequency, week, day }) as RecurrenceRule;

describe('the dates of a rule', () => {
  // 2026-03-02 is a Monday. Counted by hand on a calendar.
  it.each<[name: string, rule: RecurrenceRule, dates: readonly string[]]>([
    [
      'every week, both ends included',
      weekly('2026-03-02', '2026-03-16', 1, 'MONDAY'),
      ['2026-03-02', '2026-03-09', '2026-03-16'],
    ],
    [
      'days in calendar order, however they are listed',
      weekly('2026-03-02', '2026-03-08', 1, 'SUNDAY', 'FRIDAY', 'TUESDAY'),
      ['2026-03-03', '2026-03-06', '2026-03-08'],
    ],
    [
      'a day named twice counts once',
      weekly('2026-03-02', '2026-03-09', 1, 'MONDAY', 'MONDAY'),
      ['2026-03-02', '2026-03-09'],
    ],
    [
      'nothing before the start',
      weekly('2026-03-04', '2026-03-11', 1, 'MONDAY', 'WEDNESDAY'),
      ['2026-03-04', '2026-03-09', '2026-03-11'],
    ],
    // RFC 5545, 3.3.10: INTERVAL=2;BYDAY=TU,SU from Tuesday 1997-08-05 with WKST=MO.
    [
      'weeks that begin on Monday',
      weekly('1997-08-05', '1997-08-25', 2, 'TUESDAY', 'SUNDAY'),
      ['1997-08-05', '1997-08-10', '1997-08-19', '1997-08-24'],
    ],
    [
      'weeks counted from a start that is a Sunday',
      weekly('2026-03-08', '2026-03-23', 2, 'SUNDAY', 'MONDAY'),
      ['2026-03-08', '2026-03-16', '2026-03-22'],
    ],
    [
      'no week more than the frequency says',
      weekly('2026-01-01', '2027-12-31', 52, 'THURSDAY'),
      ['2026-01-01', '2026-12-31', '2027-12-30'],
    ],
    [
      'the first of each month',
      monthly('2026-03-01', '2026-05-31', 1, 'FIRST', 'SUNDAY'),
      ['2026-03-01', '2026-04-05', '2026-05-03'],
    ],
    [
      'the first of the month that it ends on',
      monthly('2026-02-01', '2026-03-01', 1, 'FIRST', 'SUNDAY'),
      ['2026-02-01', '2026-03-01'],
    ],
    [
      'the second',
      monthly('2026-03-10', '2026-05-12', 1, 'SECOND', 'TUESDAY'),
      ['2026-03-10', '2026-04-14', '2026-05-12'],
    ],
    [
      'a month whose day is before the start still counts',
      monthly('2026-03-11', '2026-07-31', 2, 'SECOND', 'TUESDAY'),
      ['2026-05-12', '2026-07-14'],
    ],
    ['the fourth is not the last', monthly('2026-05-01', '2026-05-31', 1, 'FOURTH', 'FRIDAY'), ['2026-05-22']],
    [
      'the last, fourth or fifth',
      monthly('2026-05-01', '2026-07-31', 1, 'LAST', 'FRIDAY'),
      ['2026-05-29', '2026-06-26', '2026-07-31'],
    ],
    ['the last of a February with 29 days', monthly('2028-02-01', '2028-02-29', 1, 'LAST', 'TUESDAY'), ['2028-02-29']],
    [
      'months over the end of a year',
      monthly('2026-11-01', '2027-03-31', 2, 'THIRD', 'MONDAY'),
      ['2026-11-16', '2027-01-18', '2027-03-15'],
    ],
    ['none when it ends before its first', weekly('2026-03-03', '2026-03-08', 1, 'MONDAY'), []],
    ['the first years of the calendar', weekly('0001-01-01', '0001-01-14', 1, 'MONDAY'), ['0001-01-01', '0001-01-08']],
    [
      'the last day of the calendar',
      monthly('9999-11-01', '9999-12-31', 1, 'LAST', 'FRIDAY'),
      ['9999-11-26', '9999-12-31'],
    ],
  ])('are %s', (_name, rule, expected) => {
    expect(datesOf(rule)).toEqual(expected);
  });

  it('are those that a walk over the calendar finds', () => {
    fc.assert(
      fc.property(rules, (rule) => {
        expect(datesOf(rule as RecurrenceRule)).toEqual(walkedDates(rule));
      }),
      { numRuns: 300 },
    );
  });

  it('from a later day on are the same without the earlier ones', () => {
    fc.assert(
      fc.property(rules, dates, (rule, from) => {
        const kept = walkedDates(rule).filter((date) => date >= from);
        expect(datesOf(rule as RecurrenceRule, from)).toEqual(kept);
      }),
    );
  });
});

describe('the end of a recurrence', () => {
  it.each([
    ['2026-03-02', '2028-03-02', true],
    ['2026-03-02', '2028-03-03', false],
    ['2026-12-31', '2028-12-31', true],
    ['2026-12-31', '2029-01-01', false],
    ['2028-02-29', '2030-02-28', true],
    ['2028-02-29', '2030-03-01', false],
    ['2026-02-28', '2028-02-28', true],
    ['2026-02-28', '2028-02-29', false],
    ['9998-06-01', '9999-12-31', true],
  ])('of %s may be %s: %s', (start, end, expected) => {
    expect(endsInTime(start, end)).toBe(expected);
  });
});
