import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecurrenceRule } from '../../../src/catalog/recurrence/rule.ts';
import { occurrenceStarts, zoneClock } from '../../../src/server/wallclock.ts';
import { instantOfWall, walkedDates } from './calendarwalk.ts';
import { rules, TRIED_ZONES, timesOfDay } from './generatedrules.ts';

function starts(rule: RecurrenceRule, time: string, zone: string): string[] {
  const sinceMidnight = Date.parse(`1970-01-01T${time}:00Z`);
  return occurrenceStarts(rule, sinceMidnight, zoneClock(zone)).map((start) => new Date(start).toISOString());
}

const daily = (start: string, end: string): RecurrenceRule => ({
  type: 'WEEKLY',
  start,
  end,
  frequency: 1,
  days: ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'],
});

describe('occurrences', () => {
  // Days around changes of the clock; instants from the published rules of each zone.
  it.each([
    [
      'keep local time over the end of winter',
      'America/Denver',
      '09:00',
      daily('2026-03-07', '2026-03-09'),
      ['2026-03-07T16:00', '2026-03-08T15:00', '2026-03-09T15:00'],
    ],
    [
      'move forward by the gap',
      'America/Denver',
      '02:30',
      daily('2026-03-07', '2026-03-09'),
      ['2026-03-07T09:30', '2026-03-08T09:30', '2026-03-09T08:30'],
    ],
    [
      'take the first of a doubled time',
      'America/Denver',
      '01:30',
      daily('2026-10-31', '2026-11-02'),
      ['2026-10-31T07:30', '2026-11-01T07:30', '2026-11-02T08:30'],
    ],
    [
      'take the first of a doubled time',
      'Europe/London',
      '01:00',
      daily('2026-10-24', '2026-10-26'),
      ['2026-10-24T00:00', '2026-10-25T00:00', '2026-10-26T01:00'],
    ],
    [
      'move forward by half an hour',
      'Australia/Lord_Howe',
      '02:15',
      daily('2026-10-03', '2026-10-05'),
      ['2026-10-02T15:45', '2026-10-03T15:45', '2026-10-04T15:15'],
    ],
    [
      'take the first of a doubled half hour',
      'Australia/Lord_Howe',
      '01:45',
      daily('2026-04-04', '2026-04-06'),
      ['2026-04-03T14:45', '2026-04-04T14:45', '2026-04-05T15:15'],
    ],
    [
      'move forward from a midnight that is skipped',
      'America/Sao_Paulo',
      '00:00',
      daily('2018-11-03', '2018-11-05'),
      ['2018-11-03T03:00', '2018-11-04T03:00', '2018-11-05T02:00'],
    ],
    [
      'stay where clocks never change',
      'Asia/Kathmandu',
      '00:00',
      daily('2026-03-28', '2026-03-29'),
      ['2026-03-27T18:15', '2026-03-28T18:15'],
    ],
  ])('%s (%s, %s)', (_name, zone, time, rule, expected) => {
    expect(starts(rule, time, zone)).toEqual(expected.map((start) => `${start}:00.000Z`));
  });

  it.each(TRIED_ZONES)('in %s are those of a walk over calendar and clock', (zone) => {
    fc.assert(
      fc.property(rules, timesOfDay, (rule, time) => {
        const walked = walkedDates(rule).map((date) => instantOfWall(`${date}T${time}`, zone));
        expect(starts(rule as RecurrenceRule, time, zone)).toEqual(walked);
      }),
    );
  });
});
