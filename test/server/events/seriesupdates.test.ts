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
  get,
  MONDAY_STARTS,
  MONDAYS,
  PLACES,
  put,
  shared,
  startsOf,
  update,
} from './calendar.ts';

const service = sharedService(calendarRecords);

/** Five Mondays, 09:00 in Denver. */
async function series(changes: Body = {}): Promise<EventRecord[]> {
  const first = await create(service, { ...MONDAYS, ...changes });
  service.clock.advance(1000);
  return allEvents(service, first.groupId);
}

/** The events with these ids as they are now, undefined for those that are gone. */
async function now(events: readonly EventRecord[]): Promise<(EventRecord | undefined)[]> {
  const all = new Map((await allEvents(service)).map((event) => [event.id, event]));
  return events.map(({ id }) => all.get(id));
}

/** Events that a request added. */
async function added(work: () => Promise<unknown>): Promise<EventRecord[]> {
  const before = new Set((await allEvents(service)).map(({ id }) => id));
  await work();
  return (await allEvents(service)).filter(({ id }) => !before.has(id));
}

describe('PUT of a series', () => {
  it('changes properties of the target and all later ones', async () => {
    const events = await series();
    const body = { title: 'Renamed', description: 'x', color: '111111', provider: { id: PROVIDERS.ann }, duration: 45 };
    expect(await update(service, events[2]!.id, body)).toMatchObject({ ...body, id: events[2]!.id });
    const expected = events.map((event, index) => {
      const end = new Date(Date.parse(event.start!) + 45 * 60_000).toISOString();
      return index < 2 ? event : { ...event, ...body, end, lastModified: service.clock.text() };
    });
    expect(await now(events)).toEqual(expected);
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
    const events = await series();
    await update(service, events[target]!.id, body);
    const after = await now(events);
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
    const events = await series();
    await update(service, events[3]!.id, { start: '2026-03-24T14:00', title: 'Elsewhere' }, 'OCCURRENCE');
    await update(service, events[1]!.id, { start: '2026-03-09T09:15' });
    expect(startsOf((await now(events)) as EventRecord[])).toEqual([
      '03-02T16:00',
      '03-09T15:15',
      '03-16T15:15',
      '03-24T20:15',
      '03-30T15:15',
    ]);
    expect((await get(service, events[3]!.id)).title).toBe('Elsewhere');
  });

  it('counts as later what starts later, and leaves what was moved before it', async () => {
    const events = await series();
    await update(service, events[4]!.id, { start: '2026-03-03T09:00' }, 'OCCURRENCE');
    await update(service, events[2]!.id, { title: 'Later' });
    expect((await now(events)).map((event) => event?.title)).toEqual([
      'Meeting',
      'Meeting',
      'Later',
      'Later',
      'Meeting',
    ]);
  });

  it('makes it whole days and back', async () => {
    const events = await series();
    await update(service, events[0]!.id, { allDay: true });
    const days = (await now(events)) as EventRecord[];
    expect(startsOf(days)).toEqual(['03-02T07:00', '03-09T06:00', '03-16T06:00', '03-23T06:00', '03-30T06:00']);
    expect(days.map(({ duration, allDay }) => [duration, allDay])).toEqual(Array(5).fill([1439, true]));
    await update(service, events[1]!.id, { allDay: false, start: '2026-03-10T13:00' });
    const back = (await now(events)) as EventRecord[];
    expect(startsOf(back)).toEqual(['03-02T07:00', '03-10T19:00', '03-17T19:00', '03-24T19:00', '03-31T19:00']);
    expect(back.map(({ duration, allDay }) => [duration, allDay])).toEqual([
      [1439, true],
      ...Array(4).fill([60, false]),
    ]);
  });

  it('moves whole days by days, over a midnight that was skipped too', async () => {
    const body = {
      location: { id: PLACES.saoPaulo },
      start: '2018-10-28T12:00',
      allDay: true,
      recurrenceDays: ['SUNDAY'],
      recurrenceEnd: '2018-11-11',
    };
    const events = await series(body);
    expect(startsOf(events)).toEqual(['10-28T03:00', '11-04T03:00', '11-11T02:00']);
    await update(service, events[1]!.id, { start: '2018-11-05T23:00' });
    expect(startsOf((await now(events)) as EventRecord[])).toEqual(['10-28T03:00', '11-05T02:00', '11-12T02:00']);
  });

  it('begins hours again from midnight, also from one that was skipped', async () => {
    const body = {
      location: { id: PLACES.saoPaulo },
      start: '2018-10-28T12:00',
      allDay: true,
      recurrenceDays: ['SUNDAY'],
      recurrenceEnd: '2018-11-18',
    };
    const events = await series(body);
    await update(service, events[1]!.id, { allDay: false, start: '2018-11-04T10:00' });
    expect(startsOf((await now(events)) as EventRecord[])).toEqual([
      '10-28T03:00',
      '11-04T12:00',
      '11-11T12:00',
      '11-18T12:00',
    ]);
    const regenerated = await series(body);
    const fresh = await added(() =>
      update(service, regenerated[1]!.id, { recurrenceDays: ['SUNDAY'], recurrenceEnd: '2018-11-11' }),
    );
    expect(startsOf([await get(service, regenerated[1]!.id), ...fresh])).toEqual(['11-04T03:00', '11-11T02:00']);
  });

  it('makes whole days of occurrences that were moved within their day', async () => {
    const events = await series();
    await update(service, events[1]!.id, { start: '2026-03-09T05:00' }, 'OCCURRENCE');
    await update(service, events[0]!.id, { allDay: true });
    expect(startsOf((await now(events)) as EventRecord[])).toEqual([
      '03-02T07:00',
      '03-09T06:00',
      '03-16T06:00',
      '03-23T06:00',
      '03-30T06:00',
    ]);
  });

  it('leaves the second of two doubled times where it is', async () => {
    const events = await series({ start: '2026-10-26T01:30', recurrenceDays: ['SUNDAY'], recurrenceEnd: '2026-11-08' });
    expect(startsOf(events)).toEqual(['11-01T07:30', '11-08T08:30']);
    await update(service, events[0]!.id, { start: '2026-10-31T01:30' }, 'OCCURRENCE');
    await update(service, events[1]!.id, { start: '2026-11-01T08:30:00Z' }, 'OCCURRENCE');
    await update(service, events[0]!.id, { title: 'Early' });
    expect(await now(events)).toMatchObject([
      { title: 'Early' },
      { title: 'Early', start: '2026-11-01T08:30:00.000Z' },
    ]);
  });

  it('goes by id where occurrences start at once', async () => {
    const events = await series();
    for (const index of [1, 3]) await update(service, events[index]!.id, { start: events[2]!.start }, 'OCCURRENCE');
    await update(service, events[2]!.id, { title: 'Later' });
    expect((await now(events)).map((event) => event?.title)).toEqual(['Meeting', 'Meeting', 'Later', 'Later', 'Later']);
  });

  it('touches nothing that does not change', async () => {
    const events = await series();
    await update(service, events[2]!.id, { title: 'Same' }, 'OCCURRENCE');
    const before = await now(events);
    service.clock.advance(1000);
    await update(service, events[2]!.id, { title: 'Same', start: events[2]!.start });
    const after = await now(events);
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
    const events = await series();
    expect(refusalOf(await put(service, events[0]!.id, body, 'SERIES'))).toEqual({ status: 400, errors: [error] });
    expect(await now(events)).toEqual(events);
  });

  it('checks operatory and provider', async () => {
    const [first] = await series({ location: { id: LOCATIONS.east } });
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

describe('PUT of a series with recurrence properties', () => {
  const TUESDAYS: Body = {
    recurrenceType: 'WEEKLY',
    recurrenceFrequency: 2,
    recurrenceDays: ['TUESDAY'],
    recurrenceEnd: '2026-04-30',
  };

  it('makes the target and all later ones anew, the target under its id', async () => {
    const events = await series();
    const before = await now(events);
    const fresh = await added(() => update(service, events[2]!.id, { ...TUESDAYS, title: 'Tuesdays', duration: 30 }));
    const after = await now(events);
    const target = after[2]!;
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(after.slice(3)).toEqual([undefined, undefined]);
    // Weeks count from the target's date, Monday the 16th.
    expect(startsOf([target, ...fresh])).toEqual(['03-17T15:00', '03-31T15:00', '04-14T15:00', '04-28T15:00']);
    expect(target).toMatchObject({
      ...TUESDAYS,
      recurrenceStart: '2026-03-16',
      title: 'Tuesdays',
      duration: 30,
      lastModified: service.clock.text(),
    });
    expect(target.groupId).not.toBe(events[0]!.groupId);
    expect(target.groupId?.length).toBeLessThanOrEqual(50);
    for (const event of fresh) {
      expect(shared(event)).toEqual(shared(target));
      expect(event.id).toBeGreaterThan(events[4]!.id);
      expect(Date.parse(event.end!) - Date.parse(event.start!)).toBe(30 * 60_000);
    }
  });

  it('keeps type, end and frequency that are not sent', async () => {
    const events = await series();
    const fresh = await added(() => update(service, events[1]!.id, { recurrenceDays: ['THURSDAY'] }));
    const target = await get(service, events[1]!.id);
    expect(target).toMatchObject({ ...MONDAYS, recurrenceStart: '2026-03-09', recurrenceDays: ['THURSDAY'] });
    expect(startsOf([target, ...fresh])).toEqual(['03-12T15:00', '03-19T15:00', '03-26T15:00']);
  });

  it('takes start with it', async () => {
    const events = await series();
    const body = { start: '2026-03-18T14:30', recurrenceDays: ['WEDNESDAY'], recurrenceEnd: '2026-03-25' };
    const fresh = await added(() => update(service, events[2]!.id, body));
    const target = await get(service, events[2]!.id);
    expect(startsOf([target, ...fresh])).toEqual(['03-18T20:30', '03-25T20:30']);
    expect(target.recurrenceStart).toBe('2026-03-18');
  });

  it('goes from weeks to months', async () => {
    const events = await series();
    const body = {
      recurrenceType: 'MONTHLY',
      recurrenceWeek: 'LAST',
      recurrenceDay: 'MONDAY',
      recurrenceEnd: '2026-05-31',
    };
    const fresh = await added(() => update(service, events[0]!.id, body));
    const target = await get(service, events[0]!.id);
    expect(startsOf([target, ...fresh])).toEqual(['03-30T15:00', '04-27T15:00', '05-25T15:00']);
    expect(target).toMatchObject({
      ...body,
      recurrenceDays: null,
      recurrenceFrequency: 1,
      recurrenceStart: '2026-03-02',
    });
  });

  it('counts from a recurrenceStart that is sent, beside no earlier occurrence', async () => {
    const events = await series();
    // Every second week from 2 March: the 2nd, 16th and 30th. The 2nd stays with the earlier ones.
    const body = { recurrenceStart: '2026-03-02', recurrenceFrequency: 2, recurrenceDays: ['MONDAY'] };
    const fresh = await added(() => update(service, events[1]!.id, body));
    expect(startsOf([await get(service, events[1]!.id), ...fresh])).toEqual(['03-16T15:00', '03-30T15:00']);
    expect((await get(service, events[0]!.id)).start).toBe(events[0]!.start);
  });

  it('may begin earlier when the target is the first', async () => {
    const events = await series();
    const body = { recurrenceStart: '2026-02-20', recurrenceDays: ['MONDAY'], recurrenceEnd: '2026-03-03' };
    const fresh = await added(() => update(service, events[0]!.id, body));
    expect(startsOf([await get(service, events[0]!.id), ...fresh])).toEqual(['02-23T16:00', '03-02T16:00']);
  });

  it('makes a single event the first of a new series', async () => {
    const event = await create(service);
    const fresh = await added(() => update(service, event.id, { ...MONDAYS, title: 'Weekly' }));
    const target = await get(service, event.id);
    expect(startsOf([target, ...fresh])).toEqual(MONDAY_STARTS);
    expect(target).toMatchObject({ ...MONDAYS, title: 'Weekly', recurrenceStart: '2026-03-02' });
    expect(target.groupId).toEqual(expect.any(String));
    expect(fresh.map(shared)).toEqual(fresh.map(() => shared(target)));
  });

  it('makes the target single with recurrenceType null and removes the later ones', async () => {
    const events = await series();
    const target = await update(service, events[2]!.id, { recurrenceType: null, title: 'Once' });
    expect(target).toEqual({
      ...events[2],
      title: 'Once',
      groupId: null,
      ...Object.fromEntries(
        Object.keys(target)
          .filter((name) => name.startsWith('recurrence'))
          .map((name) => [name, null]),
      ),
      lastModified: service.clock.text(),
    });
    expect(await now(events)).toEqual([events[0], events[1], target, undefined, undefined]);
  });

  it('takes a cleared recurrenceStart for one that is not sent', async () => {
    const events = await series();
    expect(await added(() => update(service, events[1]!.id, { recurrenceStart: null }))).toEqual([]);
    expect(await now(events)).toEqual(events);
    await update(service, events[1]!.id, { recurrenceStart: null, recurrenceDays: ['FRIDAY'] });
    expect((await get(service, events[1]!.id)).recurrenceStart).toBe('2026-03-09');
  });

  it('regenerates nothing when the recurrence that is sent is the one there is', async () => {
    const events = await series({ recurrenceDays: ['MONDAY', 'TUESDAY'] });
    const { id: _, lastModified: __, ...record } = events[2]!;
    const fresh = await added(() =>
      update(service, events[2]!.id, { ...record, recurrenceDays: ['TUESDAY', 'MONDAY'], title: 'Renamed' }),
    );
    expect(fresh).toEqual([]);
    const expected = events.map((event, index) =>
      index < 2 ? event : { ...event, title: 'Renamed', lastModified: service.clock.text() },
    );
    expect(await now(events)).toEqual(expected);
  });

  it.each<[name: string, body: Body, errors: readonly string[]]>([
    ['WEEKLY without days', { recurrenceFrequency: 2 }, ['field.missing recurrenceDays']],
    ['WEEKLY without days, even where it is WEEKLY', { recurrenceType: 'WEEKLY' }, ['field.missing recurrenceDays']],
    ['WEEKLY with null for days', { recurrenceDays: null }, ['field.missing recurrenceDays']],
    [
      'MONTHLY without week and day',
      { recurrenceType: 'MONTHLY' },
      ['field.missing recurrenceWeek', 'field.missing recurrenceDay'],
    ],
    [
      'MONTHLY with days',
      { recurrenceType: 'MONTHLY', recurrenceWeek: 'LAST', recurrenceDay: 'MONDAY', recurrenceDays: ['MONDAY'] },
      ['field.conflict recurrenceDays'],
    ],
    [
      'an end before the target',
      { recurrenceEnd: '2026-03-15', recurrenceDays: ['MONDAY'] },
      ['field.conflict recurrenceEnd'],
    ],
    [
      'an end two years and a day after the target',
      { recurrenceEnd: '2028-03-17', recurrenceDays: ['MONDAY'] },
      ['field.range recurrenceEnd'],
    ],
    ['a cleared end', { recurrenceEnd: null, recurrenceDays: ['MONDAY'] }, ['field.missing recurrenceEnd']],
    ['no occurrence', { recurrenceEnd: '2026-03-17', recurrenceDays: ['FRIDAY'] }, ['field.conflict recurrenceEnd']],
    [
      'no occurrence from the target on',
      { recurrenceStart: '2026-03-02', recurrenceEnd: '2026-03-17', recurrenceDays: ['FRIDAY'] },
      ['field.conflict recurrenceEnd'],
    ],
    ['a frequency of 53', { recurrenceFrequency: 53, recurrenceDays: ['MONDAY'] }, ['field.range recurrenceFrequency']],
    [
      'null as type with an end',
      { recurrenceType: null, recurrenceEnd: '2026-04-30' },
      ['field.missing recurrenceType', 'field.missing recurrenceFrequency'],
    ],
  ])('refuses %s', async (_name, body, errors) => {
    const events = await series();
    expect(refusalOf(await put(service, events[2]!.id, body))).toEqual({ status: 400, errors });
    expect(await now(events)).toEqual(events);
  });

  it('of a single event needs all of them', async () => {
    const event = await create(service);
    expect(refusalOf(await put(service, event.id, { recurrenceDays: ['MONDAY'] })).errors).toEqual([
      'field.missing recurrenceType',
      'field.missing recurrenceEnd',
      'field.missing recurrenceFrequency',
    ]);
  });
});
