import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type KnownStart, recurrenceOfDraft } from '../../../src/core/recurrence/recurrence.ts';
import { readRRule } from '../../../src/core/recurrence/rrule.ts';
import { dayAfter, instantOfWall, walkedDates } from '../../server/recurrence/calendarwalk.ts';
import { rules, TRIED_ZONES, timesOfDay } from '../../server/recurrence/generatedrules.ts';
import { complaints } from './complaints.ts';

const NINE = 9 * 3600;

function fieldsOf(text: string, from?: string, start: KnownStart = {}) {
  const { complain, told } = complaints();
  const draft = readRRule(text, complain);
  return { fields: draft && recurrenceOfDraft(draft, from, start, complain), told };
}

const endOf = (text: string, from?: string, start?: KnownStart) => fieldsOf(text, from, start).fields?.recurrenceEnd;

describe('recurrence fields of a rule', () => {
  it('hold all that belongs to the type and null for the rest', () => {
    expect(fieldsOf('FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;UNTIL=20270301', '2026-03-02').fields).toEqual({
      recurrenceType: 'WEEKLY',
      recurrenceStart: '2026-03-02',
      recurrenceEnd: '2027-03-01',
      recurrenceFrequency: 2,
      recurrenceDays: ['MONDAY'],
      recurrenceWeek: null,
      recurrenceDay: null,
    });
    expect(fieldsOf('FREQ=MONTHLY;BYDAY=2TU;UNTIL=20270301').fields).toEqual({
      recurrenceType: 'MONTHLY',
      recurrenceStart: null,
      recurrenceEnd: '2027-03-01',
      recurrenceFrequency: 1,
      recurrenceDays: null,
      recurrenceWeek: 'SECOND',
      recurrenceDay: 'TUESDAY',
    });
  });

  // 2026-03-02 is a Monday; counted by hand on a calendar.
  it.each<[rule: string, from: string, end: string]>([
    ['FREQ=WEEKLY;BYDAY=MO;COUNT=1', '2026-03-02', '2026-03-02'],
    ['FREQ=WEEKLY;BYDAY=MO,WE;COUNT=5', '2026-03-02', '2026-03-16'],
    ['FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;COUNT=3', '2026-03-04', '2026-03-18'],
    ['FREQ=WEEKLY;COUNT=2', '2026-03-03', '2026-03-10'],
    ['FREQ=MONTHLY;BYDAY=-1FR;COUNT=2', '2026-03-02', '2026-04-24'],
    ['FREQ=WEEKLY;BYDAY=TU;COUNT=1', '2028-02-29', '2028-02-29'],
  ])('%s from %s ends on %s', (rule, from, end) => {
    expect(endOf(rule, from)).toBe(end);
    expect(endOf(rule, undefined, { date: from })).toBe(end);
  });

  it('count from the event when nothing else says where', () => {
    expect(fieldsOf('FREQ=WEEKLY;COUNT=2', undefined, { date: '2026-03-03' }).fields).toMatchObject({
      recurrenceStart: '2026-03-03',
      recurrenceDays: ['TUESDAY'],
    });
  });

  it('never go beyond two years by counting', () => {
    // 2026-03-02 to 2028-03-02, a Thursday: 105 Mondays, the last on 2028-02-28.
    expect(endOf('FREQ=WEEKLY;BYDAY=MO;COUNT=105', '2026-03-02')).toBe('2028-02-28');
    expect(fieldsOf('FREQ=WEEKLY;BYDAY=MO;COUNT=106', '2026-03-02').told).toEqual([
      'COUNT=106 goes beyond two years after 2026-03-02, where a recurrence must end; COUNT can be at most 105.',
    ]);
  });

  it.each<[rule: string, told: RegExp]>([
    ['FREQ=WEEKLY;UNTIL=20270301', /^Weekdays are missing/],
    ['FREQ=WEEKLY;BYDAY=MO', /^A recurrence must end: give --until/],
    ['FREQ=WEEKLY;BYDAY=MO;COUNT=3', /only when the first is known: add --from/],
  ])('%s is refused when nothing is known of the start', (rule, told) => {
    expect(fieldsOf(rule)).toEqual({ fields: undefined, told: [expect.stringMatching(told)] });
  });

  it.each<[name: string, rule: string, start: KnownStart, end: string]>([
    // 2027-03-01 is a Monday.
    ['the end of a day', 'FREQ=WEEKLY;BYDAY=MO;UNTIL=20270301T235959', {}, '2027-03-01'],
    ['after the event begins', 'FREQ=WEEKLY;BYDAY=MO;UNTIL=20270301T090000', { second: NINE }, '2027-03-01'],
    ['before it begins', 'FREQ=WEEKLY;BYDAY=MO;UNTIL=20270301T085959', { second: NINE }, '2027-02-28'],
    ['midnight of a whole day', 'FREQ=WEEKLY;BYDAY=MO;UNTIL=20270301T000000', { second: 0 }, '2027-03-01'],
    ['a day that is not one of the rule', 'FREQ=WEEKLY;BYDAY=TU;UNTIL=20270301T120000', {}, '2027-02-28'],
    [
      'UTC, far from the days of the rule',
      'FREQ=WEEKLY;BYDAY=TH;UNTIL=20270301T065959Z',
      { second: NINE },
      '2027-02-28',
    ],
    ['UTC, another week of the month', 'FREQ=MONTHLY;BYDAY=2MO;UNTIL=20270301T065959Z', {}, '2027-02-27'],
  ])('an UNTIL of %s ends on a date', (_name, rule, start, end) => {
    expect(fieldsOf(rule, undefined, start)).toMatchObject({ fields: { recurrenceEnd: end }, told: [] });
  });

  it.each<[rule: string, start: KnownStart, what: string]>([
    ['FREQ=WEEKLY;BYDAY=MO;UNTIL=20270301T120000', {}, 'the local time at which the event starts'],
    ['FREQ=WEEKLY;BYDAY=MO;UNTIL=20270301T065959Z', { second: NINE }, 'the time zone of the location'],
    ['FREQ=MONTHLY;BYDAY=1MO;UNTIL=20270301T065959Z', { second: NINE }, 'the time zone of the location'],
  ])('%s is refused when it depends on what is not known', (rule, start, what) => {
    expect(fieldsOf(rule, undefined, start)).toEqual({
      fields: undefined,
      told: [
        `Whether UNTIL includes 2027-03-01 depends on ${what}, which is not known here; give the last date: UNTIL=20270301 to include it, UNTIL=20270228 not to.`,
      ],
    });
  });

  it('have the last date right for an UNTIL in UTC in any zone, or are refused', () => {
    const codes: Readonly<Record<string, string>> = { FIRST: '1', SECOND: '2', THIRD: '3', FOURTH: '4', LAST: '-1' };
    const code = (day = '') => day.slice(0, 2);
    fc.assert(
      fc.property(rules, timesOfDay, fc.constantFrom(...TRIED_ZONES), timesOfDay, (rule, time, zone, endTime) => {
        const byDay = rule.days?.map(code).join(',') ?? `${codes[rule.week ?? '']}${code(rule.day)}`;
        const until = instantOfWall(`${rule.end}T${endTime}`, 'Asia/Kathmandu');
        const text = `FREQ=${rule.type};INTERVAL=${rule.frequency};BYDAY=${byDay};UNTIL=${until.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
        const [hour = 0, minute = 0] = time.split(':').map(Number);
        const { fields, told } = fieldsOf(text, rule.start, { second: hour * 3600 + minute * 60 });
        if (fields === undefined) {
          expect(told).toEqual([expect.stringContaining('time zone of the location')]);
          return;
        }
        // Two days more than the end, then what starts later than UNTIL left out, as RFC 5545 says.
        const wanted = walkedDates({ ...rule, end: dayAfter(rule.end, 2) }).filter(
          (date) => instantOfWall(`${date}T${time}`, zone) <= until,
        );
        expect(walkedDates({ ...rule, end: fields.recurrenceEnd ?? '' })).toEqual(wanted);
      }),
      { numRuns: 150 },
    );
  });
});
