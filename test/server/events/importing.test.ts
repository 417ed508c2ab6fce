import { describe, expect, it } from 'vitest';
import { ImportRefused } from '../../../src/server/import/lines.ts';
import { rowOf } from '../../support/calls.ts';
import { big, LOCATIONS, OPERATORIES, PROVIDERS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { sharedService } from '../../support/service.ts';
import { type Body, calendarRecords, get, PLACES, startsOf, update } from './calendar.ts';

const service = sharedService(calendarRecords);

const imported = (n: number, changes: Body = {}) =>
  line('EventV1', {
    id: big(n),
    title: 'Imported',
    start: '2026-03-02T16:00:00Z',
    location: { id: LOCATIONS.east },
    ...changes,
  });

async function importOne(n: number, changes: Body): Promise<Record<string, unknown>> {
  await service.import([imported(n, changes)]);
  return rowOf(await service.call('GET', `/events/${big(n)}`));
}

describe('an imported event', () => {
  it('has the defaults of what the line does not give', async () => {
    expect(await importOne(1, {})).toMatchObject({
      type: 'EventV1',
      duration: 60,
      end: '2026-03-02T17:00:00.000Z',
      allDay: false,
      color: 'bbbbbb',
      description: null,
      groupId: null,
      recurrenceDays: null,
      lastModified: service.clock.text(),
    });
    expect(await importOne(2, { allDay: true })).toMatchObject({ duration: 1439, end: '2026-03-03T15:59:00.000Z' });
  });

  it('of a whole day keeps a start that is no midnight when something else changes', async () => {
    const { start, duration, end } = await importOne(3, { allDay: true });
    expect(await update(service, big(3), { title: 'Renamed' })).toMatchObject({ start, duration, end });
  });

  it('is one occurrence, with group and recurrence as given', async () => {
    const rule = {
      groupId: 'from-elsewhere',
      recurrenceType: 'WEEKLY',
      recurrenceStart: '2020-01-01',
      recurrenceEnd: '2029-12-31',
      recurrenceFrequency: 1,
      recurrenceDays: ['MONDAY', 'FRIDAY'],
      lastModified: '2021-05-05T05:05:05.005Z',
    };
    expect(await importOne(10, rule)).toMatchObject(rule);
    const called = await service.call('GET', '/events', { query: { filter: 'groupId==from-elsewhere' } });
    expect(called.body.data).toHaveLength(1);
  });

  it('is history: who left, and what goes over midnight, may stand in it', async () => {
    const given = {
      start: '2026-03-03T04:30:00.000Z',
      duration: 120,
      provider: { id: PROVIDERS.gone },
      operatory: { id: OPERATORIES.three },
    };
    expect(await importOne(20, given)).toMatchObject({ ...given, end: '2026-03-03T06:30:00.000Z' });
    expect(await update(service, big(20), { title: 'Renamed' }, 'OCCURRENCE')).toMatchObject({
      ...given,
      title: 'Renamed',
    });
  });

  it.each<[name: string, given: Body, expected: Body]>([
    [
      'the end in place of the duration',
      { end: '2026-03-02T16:45:00Z' },
      { duration: 45, end: '2026-03-02T16:45:00.000Z' },
    ],
    ['the end of the shortest event', { end: '2026-03-02T16:05:00Z' }, { duration: 5 }],
    ['the end of the longest event', { end: '2026-03-03T16:00:00Z' }, { duration: 1440 }],
    ['both', { duration: 30, end: '2026-03-02T16:30:00Z' }, { duration: 30, end: '2026-03-02T16:30:00.000Z' }],
    [
      'the whole day from midnight',
      { allDay: true, start: '2026-03-02T05:00:00Z', end: '2026-03-03T04:59:00Z' },
      { duration: 1439 },
    ],
    [
      'local times',
      { start: '2026-03-02T09:00', end: '2026-03-02T09:30' },
      { start: '2026-03-02T14:00:00.000Z', duration: 30 },
    ],
  ])('may tell %s', async (_name, given, expected) => {
    expect(await importOne(30, given)).toMatchObject(expected);
  });

  it.each<[name: string, changes: Body, field: string]>([
    ['no title', { title: undefined }, 'title'],
    ['no start', { start: undefined }, 'start'],
    ['no location', { location: null }, 'location'],
    ['a duration of 4', { duration: 4 }, 'duration'],
    ['an end before the start', { end: '2026-03-02T15:00:00Z' }, 'end'],
    ['an end within a minute', { end: '2026-03-02T16:30:30Z' }, 'end'],
    ['an end after 4 minutes', { end: '2026-03-02T16:04:00Z' }, 'end'],
    ['an end after 1441 minutes', { end: '2026-03-03T16:01:00Z' }, 'end'],
    ['an end a week later', { end: '2026-03-09T16:00:00Z' }, 'end'],
    ['an end after the year 9999', { start: '9999-12-31T23:50:00Z' }, 'start'],
    ['a group of 51 characters', { groupId: 'x'.repeat(51) }, 'groupId'],
    ['a colour with #', { color: '#123456' }, 'color'],
    ['a location that is nowhere', { location: { id: big(777) } }, 'location.id'],
  ])('with %s is refused with its line', async (_name, changes, field) => {
    const refused = await service.import([imported(40), imported(41, changes)]).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ImportRefused);
    expect((refused as ImportRefused).problems).toEqual([{ line: 2, field, message: expect.stringContaining(field) }]);
    expect((await service.call('GET', `/events/${big(40)}`)).status).toBe(404);
  });

  it('belongs to its series for later writes', async () => {
    const group = { groupId: 'imported-series', location: { id: PLACES.denver } };
    const starts = ['2026-03-02T16:00:00Z', '2026-03-09T15:00:00Z', '2026-03-16T15:00:00Z'];
    await service.import(starts.map((start, index) => imported(50 + index, { ...group, start })));
    await update(service, big(51), { start: '2026-03-09T10:00' });
    const after = await Promise.all([50, 51, 52].map((n) => get(service, big(n))));
    expect(startsOf(after)).toEqual(['03-02T16:00', '03-09T16:00', '03-16T16:00']);
    const missing = await service.call('DELETE', `/events/${big(50)}`);
    expect(missing.status).toBe(400);
  });

  it('may stand before its location in the file', async () => {
    const place = line('Location', { id: big(1500), name: 'Late', timezone: 'Asia/Kathmandu' });
    await service.import([
      imported(60, { location: { id: big(1500) }, start: '2026-03-02T09:00' }),
      place,
      ...bareRecords(),
    ]);
    expect((await get(service, big(60))).start).toBe('2026-03-02T03:15:00.000Z');
  });
});
