import { describe, expect, it } from 'vitest';
import { refusalOf, rowOf } from '../../support/calls.ts';
import { sharedService } from '../../support/service.ts';
import {
  allEvents,
  type Body,
  calendarRecords,
  create,
  MONDAY_STARTS,
  MONDAYS,
  meeting,
  PLACES,
  post,
  shared,
  startsOf,
} from './calendar.ts';

const service = sharedService(calendarRecords);

async function starts(changes: Body): Promise<string[]> {
  return startsOf(await allEvents(service, (await create(service, changes)).groupId));
}

describe('POST of a recurring event', () => {
  it('answers the first occurrence and writes them all', async () => {
    const called = await post(service, meeting({ ...MONDAYS, duration: 30, color: '336699' }));
    expect(called.status).toBe(201);
    const first = rowOf(called);
    const series = await allEvents(service, first.groupId as string);
    expect(series[0]).toEqual(first);
    expect(first).toMatchObject({
      start: '2026-03-02T16:00:00.000Z',
      end: '2026-03-02T16:30:00.000Z',
      ...MONDAYS,
      recurrenceStart: '2026-03-02',
      recurrenceWeek: null,
      recurrenceDay: null,
      lastModified: service.clock.text(),
    });
    expect((first.groupId as string).length).toBeLessThanOrEqual(50);
    expect(startsOf(series)).toEqual(MONDAY_STARTS);
    for (const event of series) {
      expect(shared(event)).toEqual(shared(series[0]!));
      expect(Date.parse(event.end!) - Date.parse(event.start!)).toBe(30 * 60_000);
    }
    expect(series.map(({ id }) => id)).toEqual(series.map((_, index) => series[0]!.id + index));
  });

  it('gives each series a group of its own', async () => {
    const groups = [await create(service, MONDAYS), await create(service, MONDAYS)].map(({ groupId }) => groupId);
    expect(new Set(groups).size).toBe(2);
  });

  const weekly = (changes: Body): Body => ({ ...MONDAYS, ...changes });
  const monthly = (week: string, day: string, changes: Body = {}): Body => ({
    recurrenceType: 'MONTHLY',
    recurrenceEnd: '2026-05-31',
    recurrenceFrequency: 1,
    recurrenceWeek: week,
    recurrenceDay: day,
    ...changes,
  });

  // 09:00 in Denver is 16:00 UTC until 8 March 2026 and 15:00 after.
  it.each<[name: string, changes: Body, expected: readonly string[]]>([
    [
      'starts on the first matching day from its start on',
      weekly({ recurrenceDays: ['WEDNESDAY'], recurrenceEnd: '2026-03-12' }),
      ['03-04T16:00', '03-11T15:00'],
    ],
    [
      'counts from recurrenceStart, not from start',
      weekly({ recurrenceStart: '2026-03-16', recurrenceEnd: '2026-03-23' }),
      ['03-16T15:00', '03-23T15:00'],
    ],
    [
      'may start before its start',
      weekly({ recurrenceStart: '2026-02-20', recurrenceEnd: '2026-03-02' }),
      ['02-23T16:00', '03-02T16:00'],
    ],
    ['includes recurrenceEnd', weekly({ recurrenceEnd: '2026-03-09' }), ['03-02T16:00', '03-09T15:00']],
    [
      'skips weeks',
      weekly({ recurrenceFrequency: 2, recurrenceDays: ['MONDAY', 'SUNDAY'], recurrenceEnd: '2026-03-22' }),
      ['03-02T16:00', '03-08T15:00', '03-16T15:00', '03-22T15:00'],
    ],
    ['has one occurrence where only one day matches', weekly({ recurrenceEnd: '2026-03-08' }), ['03-02T16:00']],
    ['is the second Tuesday', monthly('SECOND', 'TUESDAY'), ['03-10T15:00', '04-14T15:00', '05-12T15:00']],
    ['is the last Friday', monthly('LAST', 'FRIDAY'), ['03-27T15:00', '04-24T15:00', '05-29T15:00']],
    ['skips months', monthly('FIRST', 'MONDAY', { recurrenceFrequency: 2 }), ['03-02T16:00', '05-04T15:00']],
    [
      'takes names in any letter case',
      { ...monthly('First', 'monday'), recurrenceType: 'monthly' },
      ['03-02T16:00', '04-06T15:00', '05-04T15:00'],
    ],
    [
      'is all day, midnight by midnight',
      weekly({ allDay: true, recurrenceEnd: '2026-03-09' }),
      ['03-02T07:00', '03-09T06:00'],
    ],
  ])('%s', async (_name, changes, expected) => {
    expect(await starts(changes)).toEqual(expected);
  });

  it.each<[place: keyof typeof PLACES, start: string, changes: Body, expected: readonly string[]]>([
    // 2026-03-08 has no 02:30 in Denver; 2026-11-01 has two 01:30.
    [
      'denver',
      '2026-03-01T02:30',
      { recurrenceDays: ['SUNDAY'], recurrenceEnd: '2026-03-15' },
      ['03-01T09:30', '03-08T09:30', '03-15T08:30'],
    ],
    [
      'denver',
      '2026-10-25T01:30',
      { recurrenceDays: ['SUNDAY'], recurrenceEnd: '2026-11-08' },
      ['10-25T07:30', '11-01T07:30', '11-08T08:30'],
    ],
    [
      'london',
      '2026-03-22T01:15',
      { recurrenceDays: ['SUNDAY'], recurrenceEnd: '2026-04-05' },
      ['03-22T01:15', '03-29T01:15', '04-05T00:15'],
    ],
    // Lord Howe moves its clocks by half an hour: at 02:00 on 2026-10-04, back at 02:00 on 2026-04-05.
    [
      'lordHowe',
      '2026-09-27T02:10',
      { recurrenceDays: ['SUNDAY'], recurrenceEnd: '2026-10-11' },
      ['09-26T15:40', '10-03T15:40', '10-10T15:10'],
    ],
    [
      'saoPaulo',
      '2018-10-28T00:00',
      { recurrenceDays: ['SUNDAY'], recurrenceEnd: '2018-11-11' },
      ['10-28T03:00', '11-04T03:00', '11-11T02:00'],
    ],
  ])('keeps local time where clocks change: %s', async (place, start, changes, expected) => {
    expect(await starts({ location: { id: PLACES[place] }, start, ...MONDAYS, ...changes })).toEqual(expected);
  });

  it('folds days that are named twice and keeps their order', async () => {
    const first = await create(service, { ...MONDAYS, recurrenceDays: ['TUESDAY', 'monday', 'TUESDAY'] });
    expect(first.recurrenceDays).toEqual(['TUESDAY', 'MONDAY']);
    expect(first.start).toBe('2026-03-02T16:00:00.000Z');
  });

  it('writes two whole years of days', async () => {
    const everyDay = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'];
    const first = await create(service, { ...MONDAYS, recurrenceDays: everyDay, recurrenceEnd: '2028-03-02' });
    const series = await allEvents(service, first.groupId);
    // 2028 is a leap year.
    expect(series).toHaveLength(365 + 366 + 1);
    expect(series.at(-1)?.start).toBe('2028-03-02T16:00:00.000Z');
  });

  it.each<[name: string, changes: Body, errors: readonly string[]]>([
    ['a frequency of 0', { recurrenceFrequency: 0 }, ['field.range recurrenceFrequency']],
    ['a frequency of 53', { recurrenceFrequency: 53 }, ['field.range recurrenceFrequency']],
    ['no frequency', { recurrenceFrequency: null }, ['field.missing recurrenceFrequency']],
    ['no end', { recurrenceEnd: undefined }, ['field.missing recurrenceEnd']],
    ['no type', { recurrenceType: undefined }, ['field.missing recurrenceType']],
    ['another type', { recurrenceType: 'DAILY' }, ['field.choice recurrenceType']],
    ['no days', { recurrenceDays: undefined }, ['field.missing recurrenceDays']],
    ['an empty list of days', { recurrenceDays: [] }, ['field.missing recurrenceDays']],
    ['a day that is none', { recurrenceDays: ['MONDAY', 'MON'] }, ['field.choice recurrenceDays[1]']],
    ['one day without a list', { recurrenceDays: 'MONDAY' }, ['field.type recurrenceDays']],
    ['a date that does not exist', { recurrenceStart: '2026-02-30' }, ['field.format recurrenceStart']],
    ['a date-time as end', { recurrenceEnd: '2026-03-31T00:00:00Z' }, ['field.format recurrenceEnd']],
    [
      'MONTHLY without week and day',
      { recurrenceType: 'MONTHLY', recurrenceDays: null },
      ['field.missing recurrenceWeek', 'field.missing recurrenceDay'],
    ],
    [
      'MONTHLY with days',
      { recurrenceType: 'MONTHLY', recurrenceWeek: 'LAST', recurrenceDay: 'MONDAY' },
      ['field.conflict recurrenceDays'],
    ],
    [
      'a fifth week',
      { recurrenceType: 'MONTHLY', recurrenceWeek: 'FIFTH', recurrenceDay: 'MONDAY', recurrenceDays: null },
      ['field.choice recurrenceWeek'],
    ],
    ['an end before the start', { recurrenceEnd: '2026-03-01' }, ['field.conflict recurrenceEnd']],
    ['an end more than two years later', { recurrenceEnd: '2028-03-03' }, ['field.range recurrenceEnd']],
    [
      'an end more than two years after recurrenceStart',
      { recurrenceStart: '2026-03-01', recurrenceEnd: '2028-03-02' },
      ['field.range recurrenceEnd'],
    ],
    ['no occurrence', { recurrenceStart: '2026-03-03', recurrenceEnd: '2026-03-08' }, ['field.conflict recurrenceEnd']],
    // 1400 minutes from 00:10 end the next day where a day has 23 hours: 8 March.
    [
      'an occurrence that ends on the next day',
      { start: '2026-03-01T00:10', duration: 1400, recurrenceDays: ['SUNDAY'] },
      ['field.conflict duration'],
    ],
  ])('refuses %s', async (_name, changes, errors) => {
    const before = await allEvents(service);
    expect(refusalOf(await post(service, meeting({ ...MONDAYS, ...changes })))).toEqual({ status: 400, errors });
    expect(await allEvents(service)).toEqual(before);
  });

  it('answers a repeated Idempotency-Key with the first answer and writes nothing more (D46)', async () => {
    const headers = { 'idempotency-key': 'series-1' };
    const first = await service.call('POST', '/events', { body: meeting(MONDAYS), headers });
    const before = await allEvents(service);
    const again = await service.call('POST', '/events', { body: meeting(MONDAYS), headers });
    expect(again.status).toBe(201);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.text).toBe(first.text);
    expect(await allEvents(service)).toEqual(before);
  });
});
