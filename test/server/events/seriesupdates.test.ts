import { describe, expect, it } from 'vitest';
import type { EventRecord } from '../../../src/server/resources/eventdrafts.ts';
import { refusalOf } from '../../support/calls.ts';
import { big, LOCATIONS, OPERATORIES, PROVIDERS } from '../../support/ids.ts';
import { line } from '../../support/practice.ts';
import { sharedService } from '../../support/service.ts';
import {
  allEvents,
  type Body,
  calendarRecords,
  create,
  eventsNow,
  get,
  mondays,
  put,
  startsOf,
  update,
} from './calendar.ts';

const service = sharedService(calendarRecords);

describe('PUT of a series', () => {
  it('changes properties of the target and all later ones', async () => {
    const events = await mondays(service);
    const body = { title: 'Renamed', description: 'x', color: '111111', provider: { id: PROVIDERS.ann }, duration: 45 };
    expect(await update(service, events[2]!.id, body)).toMatchObject({ ...body, id: events[2]!.id });
    const expected = events.map((event, index) => {
      const end = new Date(Date.parse(event.start!) + 45 * 60_000).toISOString();
      return index < 2 ? event : { ...event, ...body, end, lastModified: service.clock.text() };
    });
    expect(await eventsNow(service, events)).toEqual(expected);
  });

  it.each<[name: string, target: number, body: Body, expected: readonly string[]]>([
    [
      'later',
      0,
      { start: '2026-03-02T10:30' },
      ['03-02T17:30', '03-09T16:30', '03-16T16:30', '03-23T16:30', '03-30T16:30'],
    ],
    [
      'earlier, from the target on',
      2,
      { start: '2026-03-16T08:00' },
      ['03-02T16:00', '03-09T15:00', '03-16T14:00', '03-23T14:00', '03-30T14:00'],
    ],
    [
      'to another day',
      3,
      { start: '2026-03-25T09:00' },
      ['03-02T16:00', '03-09T15:00', '03-16T15:00', '03-25T15:00', '04-01T15:00'],
    ],
    [
      'by wall clock where the clock changes between',
      0,
      { start: '2026-03-08T09:00' },
      ['03-08T15:00', '03-15T15:00', '03-22T15:00', '03-29T15:00', '04-05T15:00'],
    ],
    [
      'into a gap',
      0,
      { start: '2026-03-01T02:30' },
      ['03-01T09:30', '03-08T09:30', '03-15T08:30', '03-22T08:30', '03-29T08:30'],
    ],
  ])('moves it %s', async (_name, target, body, expected) => {
    const events = await mondays(service);
    await update(service, events[target]!.id, body);
    const after = await eventsNow(service, events);
    expect(startsOf(after as EventRecord[])).toEqual(expected);
    for (const [index, event] of after.entries()) {
      expect(event).toEqual({
        ...events[index],
        start: event?.start,
        end: event?.end,
        lastModified: event?.lastModified,
      });
      expect(Date.parse(event!.end!) - Date.parse(event!.start!)).toBe(60 * 60_000);
      expect(event?.lastModified === events[index]!.lastModified).toBe(index < target);
    }
  });

  it('moves each occurrence from where it stands', async () => {
    const events = await mondays(service);
    await update(service, events[3]!.id, { start: '2026-03-24T14:00', title: 'Elsewhere' }, 'OCCURRENCE');
    await update(service, events[1]!.id, { start: '2026-03-09T09:15' });
    expect(startsOf((await eventsNow(service, events)) as EventRecord[])).toEqual([
      '03-02T16:00',
      '03-09T15:15',
      '03-16T15:15',
      '03-24T20:15',
      '03-30T15:15',
    ]);
    expect((await get(service, events[3]!.id)).title).toBe('Elsewhere');
  });

  it('counts as later what starts later, and leaves what was moved before it', async () => {
    const events = await mondays(service);
    await update(service, events[4]!.id, { start: '2026-03-03T09:00' }, 'OCCURRENCE');
    await update(service, events[2]!.id, { title: 'Later' });
    expect((await eventsNow(service, events)).map((event) => event?.title)).toEqual([
      'Meeting',
      'Meeting',
      'Later',
      'Later',
      'Meeting',
    ]);
  });

  it('leaves the second of two doubled times where it is', async () => {
    const events = await mondays(service, {
      start: '2026-10-26T01:30',
      recurrenceDays: ['SUNDAY'],
      recurrenceEnd: '2026-11-08',
    });
    expect(startsOf(events)).toEqual(['11-01T07:30', '11-08T08:30']);
    await update(service, events[0]!.id, { start: '2026-10-31T01:30' }, 'OCCURRENCE');
    await update(service, events[1]!.id, { start: '2026-11-01T08:30:00Z' }, 'OCCURRENCE');
    await update(service, events[0]!.id, { title: 'Early' });
    expect(await eventsNow(service, events)).toMatchObject([
      { title: 'Early' },
      { title: 'Early', start: '2026-11-01T08:30:00.000Z' },
    ]);
  });

  it('goes by id where occurrences start at once', async () => {
    const events = await mondays(service);
    for (const index of [1, 3]) await update(service, events[index]!.id, { start: events[2]!.start }, 'OCCURRENCE');
    await update(service, events[2]!.id, { title: 'Later' });
    expect((await eventsNow(service, events)).map((event) => event?.title)).toEqual([
      'Meeting',
      'Meeting',
      'Later',
      'Later',
      'Later',
    ]);
  });

  it('touches nothing that does not change', async () => {
    const events = await mondays(service);
    await update(service, events[2]!.id, { title: 'Same' }, 'OCCURRENCE');
    const before = await eventsNow(service, events);
    service.clock.advance(1000);
    await update(service, events[2]!.id, { title: 'Same', start: events[2]!.start });
    const after = await eventsNow(service, events);
    expect(after.slice(0, 3)).toEqual(before.slice(0, 3));
    expect(after.slice(3).map((event) => [event?.title, event?.lastModified])).toEqual(
      Array(2).fill(['Same', service.clock.text()]),
    );
  });

  it('acts on a single event alone', async () => {
    const event = await create(service);
    const others = (await allEvents(service)).filter(({ id }) => id !== event.id);
    expect(await update(service, event.id, { title: 'Alone', start: '2026-03-03T09:00' })).toMatchObject({
      title: 'Alone',
      start: '2026-03-03T16:00:00.000Z',
      groupId: null,
    });
    expect((await allEvents(service)).filter(({ id }) => id !== event.id)).toEqual(others);
  });

  it.each<[name: string, body: Body, error: string]>([
    ['the target', { start: '2026-03-02T23:30' }, 'field.conflict start'],
    // 8 March has 23 hours in Denver.
    ['a later occurrence', { start: '2026-03-01T00:10', duration: 1400 }, 'field.conflict duration'],
  ])('refuses as a whole what would take %s over midnight', async (_name, body, error) => {
    const events = await mondays(service);
    expect(refusalOf(await put(service, events[0]!.id, body, 'SERIES'))).toEqual({ status: 400, errors: [error] });
    expect(await eventsNow(service, events)).toEqual(events);
  });

  it('refuses a cleared start', async () => {
    const events = await mondays(service);
    const refused = refusalOf(await put(service, events[1]!.id, { start: null, title: 'Never' }));
    expect(refused).toEqual({ status: 400, errors: ['field.missing start'] });
    expect(await eventsNow(service, events)).toEqual(events);
  });

  it('checks operatory and provider', async () => {
    const [first] = await mondays(service, { location: { id: LOCATIONS.east } });
    const body = { operatory: { id: OPERATORIES.three }, provider: { id: PROVIDERS.lab } };
    const errors = ['field.conflict operatory.id', 'field.conflict provider.id'];
    expect(refusalOf(await put(service, first!.id, body))).toEqual({ status: 400, errors });
    expect(await update(service, first!.id, { operatory: { id: OPERATORIES.two } })).toMatchObject({
      operatory: { id: OPERATORIES.two },
    });
  });

  it('does not reach events of another location that an import put into the group', async () => {
    const record = (id: number, location: number, start: string) =>
      line('EventV1', { id, title: 'Imported', start, location: { id: location }, groupId: 'shared-group' });
    await service.import([
      record(big(5001), LOCATIONS.east, '2026-03-02T15:00:00Z'),
      record(big(5002), LOCATIONS.east, '2026-03-09T15:00:00Z'),
      record(big(5003), LOCATIONS.west, '2026-03-09T15:00:00Z'),
    ]);
    await update(service, big(5001), { title: 'East' });
    const titles = (await allEvents(service, 'shared-group')).map(({ title }) => title);
    expect(titles).toEqual(['East', 'East', 'Imported']);
  });
});
