import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RuleDraft } from '../../../src/core/recurrence/draft.ts';
import { readRRule } from '../../../src/core/recurrence/rrule.ts';
import { complaints } from './complaints.ts';

const weekly = (days: readonly string[] | undefined, frequency = 1, end?: unknown) =>
  ({ pattern: { type: 'WEEKLY', days }, frequency, end }) as RuleDraft;
const monthly = (week: string, day: string, frequency = 1, end?: unknown) =>
  ({ pattern: { type: 'MONTHLY', week, day }, frequency, end }) as RuleDraft;
const until = (date: string) => ({ kind: 'date', date });

function read(text: string) {
  const { complain, told } = complaints();
  return { draft: readRRule(text, complain), told };
}

describe('a rule of RFC 5545', () => {
  it.each<[text: string, draft: RuleDraft]>([
    ['FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;UNTIL=20270301', weekly(['MONDAY', 'WEDNESDAY'], 2, until('2027-03-01'))],
    ['RRULE:FREQ=WEEKLY;BYDAY=SU', weekly(['SUNDAY'])],
    ['freq=weekly;byday=fr;', weekly(['FRIDAY'])],
    ['BYDAY=FR, SA;FREQ=WEEKLY', weekly(['FRIDAY', 'SATURDAY'])],
    ['FREQ=WEEKLY;BYDAY=MO,MO', weekly(['MONDAY'])],
    ['FREQ=WEEKLY', weekly(undefined)],
    ['FREQ=WEEKLY;BYDAY=MO;COUNT=10', weekly(['MONDAY'], 1, { kind: 'count', count: 10 })],
    ['FREQ=WEEKLY;BYDAY=MO;WKST=MO;INTERVAL=2', weekly(['MONDAY'], 2)],
    ['FREQ=WEEKLY;BYDAY=MO;WKST=SU', weekly(['MONDAY'])],
    ['FREQ=WEEKLY;BYDAY=MO;UNTIL=2027-03-01', weekly(['MONDAY'], 1, until('2027-03-01'))],
    [
      'FREQ=WEEKLY;BYDAY=MO;UNTIL=20270301T235959',
      weekly(['MONDAY'], 1, { kind: 'time', milliseconds: Date.UTC(2027, 2, 1, 23, 59, 59), utc: false }),
    ],
    [
      'FREQ=WEEKLY;BYDAY=MO;UNTIL=20270301T065959Z',
      weekly(['MONDAY'], 1, { kind: 'time', milliseconds: Date.UTC(2027, 2, 1, 6, 59, 59), utc: true }),
    ],
    ['FREQ=MONTHLY;BYDAY=2TU', monthly('SECOND', 'TUESDAY')],
    ['FREQ=MONTHLY;BYDAY=+1MO', monthly('FIRST', 'MONDAY')],
    ['FREQ=MONTHLY;BYDAY=-1FR;INTERVAL=3', monthly('LAST', 'FRIDAY', 3)],
    ['FREQ=MONTHLY;BYDAY=TU;BYSETPOS=4', monthly('FOURTH', 'TUESDAY')],
    ['FREQ=MONTHLY;BYDAY=FR;BYSETPOS=-1', monthly('LAST', 'FRIDAY')],
    ['FREQ=MONTHLY;BYDAY=2TU;INTERVAL=12;WKST=SU', monthly('SECOND', 'TUESDAY', 12)],
  ])('%s is read', (text, draft) => {
    expect(read(text)).toEqual({ draft, told: [] });
  });

  it.each<[text: string, told: RegExp]>([
    ['FREQ=DAILY;COUNT=3', /^FREQ=DAILY is not supported.*FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU/],
    ['FREQ=YEARLY', /^FREQ=YEARLY is not supported.*FREQ=MONTHLY;INTERVAL=12/],
    ['FREQ=HOURLY', /^FREQ=HOURLY is not supported/],
    ['FREQ=FORTNIGHTLY', /^FREQ must be WEEKLY or MONTHLY/],
    ['BYDAY=MO', /no FREQ/],
    ['FREQ=WEEKLY;BYDAY=MO;INTERVAL=0', /^INTERVAL must be a whole number from 1 to 52/],
    ['FREQ=WEEKLY;BYDAY=MO;INTERVAL=53', /^INTERVAL/],
    ['FREQ=WEEKLY;BYDAY=MO;INTERVAL=1.5', /^INTERVAL/],
    ['FREQ=WEEKLY;BYDAY=2MO', /^BYDAY of FREQ=WEEKLY lists weekdays/],
    ['FREQ=WEEKLY;BYDAY=MONDAY', /^BYDAY of FREQ=WEEKLY lists weekdays/],
    ['FREQ=WEEKLY;BYDAY=MO,,TU', /^BYDAY of FREQ=WEEKLY lists weekdays/],
    ['FREQ=WEEKLY;BYDAY=MO;BYSETPOS=1', /^BYSETPOS does not go with FREQ=WEEKLY/],
    ['FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;WKST=SU', /^WKST=SU with INTERVAL=2 is not supported.*Monday/],
    ['FREQ=WEEKLY;BYDAY=MO;WKST=X', /^WKST must be/],
    ['FREQ=MONTHLY', /needs BYDAY/],
    ['FREQ=MONTHLY;BYMONTHDAY=15', /^BYMONTHDAY is not supported by the API: a day of the month/],
    ['FREQ=MONTHLY;BYDAY=TU', /every such day of a month, which is FREQ=WEEKLY;BYDAY=TU/],
    ['FREQ=MONTHLY;BYDAY=1MO,3MO', /one series for each/],
    ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1', /one series for each/],
    ['FREQ=MONTHLY;BYDAY=5TU', /1, 2, 3, 4 and -1 \(the last\), as in BYDAY=-1TU/],
    ['FREQ=MONTHLY;BYDAY=-2TU', /1, 2, 3, 4 and -1/],
    ['FREQ=MONTHLY;BYDAY=TU;BYSETPOS=1,2', /1, 2, 3, 4 and -1/],
    ['FREQ=MONTHLY;BYDAY=2TU;BYSETPOS=1', /^Give the week once/],
    ['FREQ=MONTHLY;BYDAY=2XX', /^BYDAY of FREQ=MONTHLY is an ordinal and a weekday/],
    ['FREQ=MONTHLY;BYDAY=2TU;WKST=2', /^WKST must be/],
    ['FREQ=WEEKLY;BYDAY=MO;BYMONTH=1', /^BYMONTH is not supported/],
    ['FREQ=WEEKLY;BYDAY=MO;BYHOUR=9', /^BYHOUR is not supported.*--start/],
    ['FREQ=WEEKLY;BYDAY=MO;COUNT=3;UNTIL=20270301', /^A rule ends by UNTIL or by COUNT/],
    ['FREQ=WEEKLY;BYDAY=MO;COUNT=0', /^COUNT must be/],
    ['FREQ=WEEKLY;BYDAY=MO;UNTIL=20270230', /^UNTIL must be a date/],
    ['FREQ=WEEKLY;BYDAY=MO;UNTIL=20270301T250000Z', /^UNTIL must be a date/],
    ['FREQ=WEEKLY;BYDAY=MO;UNTIL=20270301T240000', /^UNTIL must be a date/],
    ['FREQ=WEEKLY;BYDAY=MO;UNTIL=soon', /^UNTIL must be a date/],
    ['FREQ=WEEKLY;FREQ=WEEKLY', /^FREQ occurs twice/],
    ['FREQ=WEEKLY;BYDAY=', /^BYDAY has no value/],
    ['FREQ=WEEKLY;COLOUR=RED', /^COLOUR is not a part of a rule\. Parts: FREQ, INTERVAL/],
    ['FREQ=WEEKLY;MO', /written NAME=VALUE/],
    ['DTSTART:20270301T090000\nRRULE:FREQ=WEEKLY', /without DTSTART/],
  ])('%s is refused', (text, expected) => {
    const { draft, told } = read(text);
    expect(draft).toBeUndefined();
    expect(told).toEqual([expect.stringMatching(expected)]);
  });

  it('is told of everything that is wrong', () => {
    expect(read('FREQ=DAILY;INTERVAL=0;COUNT=x').told).toHaveLength(3);
    expect(read('FREQ=MONTHLY;BYMONTHDAY=1;BYHOUR=9').told).toHaveLength(2);
  });

  it('is read or complained of, whatever stands there', () => {
    const part = fc.constantFrom(
      'FREQ',
      'INTERVAL',
      'BYDAY',
      'BYSETPOS',
      'UNTIL',
      'COUNT',
      'WKST',
      'BYHOUR',
      '__proto__',
    );
    const value = fc.constantFrom(
      'WEEKLY',
      'MONTHLY',
      'DAILY',
      'MO',
      '2TU',
      '-1FR',
      '1',
      '53',
      '20270301',
      '20270301T000000Z',
    );
    const pair = fc.tuple(part, fc.oneof(value, fc.string({ maxLength: 5 }))).map((both) => both.join('='));
    const texts = fc.oneof(
      fc.string(),
      fc.array(pair, { maxLength: 5 }).map((pairs) => pairs.join(';')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const { draft, told } = read(text);
        expect(draft === undefined).toBe(told.length > 0);
      }),
      { numRuns: 500 },
    );
  });
});
