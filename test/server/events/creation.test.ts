import { describe, expect, it } from 'vitest';
import { refusalOf, rowOf, warningSources } from '../../support/calls.ts';
import { ELSEWHERE, LOCATIONS, NOWHERE, OPERATORIES, PROVIDERS } from '../../support/ids.ts';
import { sharedService } from '../../support/service.ts';
import { allEvents, calendarRecords, create, meeting, PLACES, post } from './calendar.ts';

const service = sharedService(calendarRecords);

describe('POST of an event', () => {
  it('fills what is not given', async () => {
    const called = await post(service, {
      title: 'Closed',
      start: '2026-03-02T16:00:00Z',
      location: { id: PLACES.denver },
    });
    expect(called.status).toBe(201);
    expect(rowOf(called)).toEqual({
      id: expect.any(Number),
      type: 'EventV1',
      title: 'Closed',
      description: null,
      start: '2026-03-02T16:00:00.000Z',
      end: '2026-03-02T17:00:00.000Z',
      duration: 60,
      allDay: false,
      color: 'bbbbbb',
      lastModified: service.clock.text(),
      groupId: null,
      location: { id: PLACES.denver },
      operatory: null,
      provider: null,
      recurrenceType: null,
      recurrenceStart: null,
      recurrenceEnd: null,
      recurrenceFrequency: null,
      recurrenceDays: null,
      recurrenceWeek: null,
      recurrenceDay: null,
    });
  });

  it('keeps what is given', async () => {
    const given = {
      title: 'x'.repeat(60),
      description: 'Bring the plan',
      start: '2026-03-02T18:15:30.250Z',
      duration: 45,
      color: 'aB09fF',
      location: { id: LOCATIONS.east },
      operatory: { id: OPERATORIES.two },
      provider: { id: PROVIDERS.ben },
    };
    expect(await create(service, given)).toMatchObject({ ...given, end: '2026-03-02T19:00:30.250Z' });
  });

  it('takes null for what may be absent', async () => {
    const nulls = Object.fromEntries(
      [
        'description',
        'duration',
        'allDay',
        'color',
        'operatory',
        'provider',
        'recurrenceType',
        'recurrenceEnd',
        'recurrenceDays',
      ].map((name) => [name, null]),
    );
    expect(await create(service, nulls)).toMatchObject({
      description: null,
      duration: 60,
      allDay: false,
      color: 'bbbbbb',
      groupId: null,
    });
    expect(await create(service, { recurrenceDays: [] })).toMatchObject({ groupId: null, recurrenceDays: null });
  });

  it.each([
    ['east of all', LOCATIONS.east, '2026-03-02T14:00:00.000Z'],
    ['in London', PLACES.london, '2026-03-02T09:00:00.000Z'],
    ['on Lord Howe', PLACES.lordHowe, '2026-03-01T22:00:00.000Z'],
    ["in the organization's zone", PLACES.denver, '2026-03-02T16:00:00.000Z'],
  ])('reads a time without a zone %s (D7)', async (_name, id, start) => {
    expect((await create(service, { location: { id } })).start).toBe(start);
  });

  it('ignores read-only properties with a warning (D44)', async () => {
    const called = await post(service, meeting({ id: 5, end: 'x', groupId: 'mine', lastModified: 1, type: 'other' }));
    expect(called.status).toBe(201);
    expect(warningSources(called)).toEqual(['id', 'end', 'groupId', 'lastModified', 'type']);
    expect(rowOf(called)).toMatchObject({ type: 'EventV1', groupId: null });
  });

  // Specification, Errors, 400 conditions of Events.
  it.each<[name: string, changes: Record<string, unknown>, errors: readonly string[]]>([
    ['no title', { title: undefined }, ['field.missing title']],
    ['null as title', { title: null }, ['field.missing title']],
    ['an empty title', { title: '' }, ['field.length title']],
    ['a blank title', { title: '   ' }, ['field.length title']],
    ['a title of 61 characters', { title: 'x'.repeat(61) }, ['field.length title']],
    ['a title that is no string', { title: 5 }, ['field.type title']],
    ['no start', { start: undefined }, ['field.missing start']],
    ['a date as start', { start: '2026-03-02' }, ['field.format start']],
    ['a start that does not exist', { start: '2026-02-30T09:00' }, ['field.format start']],
    ['a number as start', { start: 1_772_000_000 }, ['field.type start']],
    ['a duration of 4', { duration: 4 }, ['field.range duration']],
    ['a duration of 1441', { duration: 1441 }, ['field.range duration']],
    ['a broken duration', { duration: 30.5 }, ['field.type duration']],
    ['no location', { location: undefined }, ['field.missing location']],
    ['an id as location', { location: PLACES.denver }, ['field.type location']],
    ['a location without id', { location: {} }, ['field.type location']],
    ['an unknown location', { location: { id: NOWHERE } }, ['field.link_unknown location.id']],
    ['a location of another practice', { location: { id: ELSEWHERE.location } }, ['field.link_unknown location.id']],
    ['an operatory of another location', { operatory: { id: OPERATORIES.one } }, ['field.conflict operatory.id']],
    ['an unknown operatory', { operatory: { id: NOWHERE } }, ['field.link_unknown operatory.id']],
    ['an inactive provider', { provider: { id: PROVIDERS.gone } }, ['field.conflict provider.id']],
    ['a provider who is no person', { provider: { id: PROVIDERS.lab } }, ['field.conflict provider.id']],
    ['an unknown provider', { provider: { id: NOWHERE } }, ['field.link_unknown provider.id']],
    ['a colour of 5 digits', { color: 'bbbbb' }, ['field.format color']],
    ['a colour of 7 digits', { color: 'bbbbbbb' }, ['field.format color']],
    ['a colour with #', { color: '#bbbbbb' }, ['field.format color']],
    ['a colour with other letters', { color: 'gggggg' }, ['field.format color']],
    ['an empty colour', { color: '' }, ['field.format color']],
    ['text as allDay', { allDay: 'yes' }, ['field.type allDay']],
    ['an unknown property', { colour: 'bbbbbb' }, ['body.unknown_property colour']],
    ['an end on the next day', { start: '2026-03-02T23:00', duration: 60 }, ['field.conflict duration']],
    ['an end on the next day by the default duration', { start: '2026-03-02T23:30' }, ['field.conflict start']],
  ])('refuses %s', async (_name, changes, errors) => {
    expect(refusalOf(await post(service, meeting(changes)))).toEqual({ status: 400, errors });
  });

  it('reports everything at once', async () => {
    const body = {
      start: '2026-03-02T23:30',
      color: 'red',
      location: { id: LOCATIONS.east },
      operatory: { id: OPERATORIES.three },
      provider: { id: PROVIDERS.lab },
      recurrenceType: 'WEEKLY',
      recurrenceEnd: '2029-01-01',
      recurrenceDays: ['FUNDAY'],
      nosuch: 1,
    };
    const { status, errors } = refusalOf(await post(service, body));
    expect(status).toBe(400);
    expect(errors.sort()).toEqual([
      'body.unknown_property nosuch',
      'field.choice recurrenceDays[0]',
      'field.conflict operatory.id',
      'field.conflict provider.id',
      'field.conflict start',
      'field.format color',
      'field.missing recurrenceFrequency',
      'field.missing title',
      'field.range recurrenceEnd',
    ]);
  });

  it('does not judge the end by a duration that could not be read', async () => {
    const called = await post(service, meeting({ start: '2026-03-02T23:30', duration: 2 }));
    expect(refusalOf(called).errors).toEqual(['field.range duration']);
  });

  it('leaves nothing behind when it refuses', async () => {
    const before = await allEvents(service);
    await post(service, meeting({ provider: { id: PROVIDERS.gone } }));
    await post(service, meeting({ title: '' }));
    expect(await allEvents(service)).toEqual(before);
    expect((await create(service)).id).toBe((before.at(-1)?.id ?? 0) + 1);
  });
});

describe('the local day of an event', () => {
  it.each([
    ['23:00 and 59 minutes', PLACES.denver, '2026-03-02T23:00', 59, 201],
    ['23:00 and 60 minutes', PLACES.denver, '2026-03-02T23:00', 60, 400],
    ['midnight and 1439 minutes', PLACES.denver, '2026-03-02T00:00', 1439, 201],
    ['midnight and 1440 minutes', PLACES.denver, '2026-03-02T00:00', 1440, 400],
    ['midnight and 1440 minutes of a day of 25 hours', PLACES.denver, '2026-11-01T00:00', 1440, 201],
    ['midnight and 1379 minutes of a day of 23 hours', PLACES.denver, '2026-03-08T00:00', 1379, 201],
    ['midnight and 1380 minutes of a day of 23 hours', PLACES.denver, '2026-03-08T00:00', 1380, 400],
    ['a day that is another in UTC', PLACES.denver, '2026-03-02T16:30', 120, 201],
    ['a day of UTC that is two elsewhere', PLACES.lordHowe, '2026-03-02T12:30:00Z', 60, 400],
    ['the same where it is one day', PLACES.london, '2026-03-02T12:30:00Z', 60, 201],
  ])('%s', async (_name, id, start, duration, status) => {
    const called = await post(service, meeting({ location: { id }, start, duration }));
    expect(called.status, called.text).toBe(status);
    if (status === 400)
      expect(called.body.errors[0]?.description).toMatch(/2026-\d\d-\d\d would end on 2026-\d\d-\d\d/);
  });

  it.each([
    ['Denver', PLACES.denver, '2026-03-02T14:45', '2026-03-02T07:00', '2026-03-03T06:59'],
    [
      'Denver, from an instant that is tomorrow in UTC',
      PLACES.denver,
      '2026-03-03T02:00:00Z',
      '2026-03-02T07:00',
      '2026-03-03T06:59',
    ],
    ['Denver, 23 hours', PLACES.denver, '2026-03-08T12:00', '2026-03-08T07:00', '2026-03-09T06:59'],
    ['Lord Howe', PLACES.lordHowe, '2026-03-02T12:30:00Z', '2026-03-01T13:00', '2026-03-02T12:59'],
    [
      'Sao Paulo, where that midnight was skipped',
      PLACES.saoPaulo,
      '2018-11-04T15:00',
      '2018-11-04T03:00',
      '2018-11-05T02:59',
    ],
  ])('is the whole of it from midnight in %s', async (_name, id, start, from, to) => {
    const event = await create(service, { location: { id }, start, duration: 30, allDay: true });
    expect(event).toMatchObject({ start: `${from}:00.000Z`, end: `${to}:00.000Z`, duration: 1439, allDay: true });
  });

  it('must be over before the year 10000', async () => {
    const start = '9999-12-31T23:30:00Z';
    for (const changes of [{ start }, { start, allDay: true, location: { id: LOCATIONS.west } }]) {
      expect(refusalOf(await post(service, meeting(changes)))).toEqual({ status: 400, errors: ['field.range start'] });
    }
    expect(await create(service, { start: '9999-12-31T22:00:00Z' })).toMatchObject({ end: '9999-12-31T23:00:00.000Z' });
  });
});
