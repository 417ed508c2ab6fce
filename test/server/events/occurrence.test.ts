import { describe, expect, it } from 'vitest';
import { refusalOf, rowOf, warningSources } from '../../support/calls.ts';
import { LOCATIONS, NOWHERE, OPERATORIES, PROVIDERS } from '../../support/ids.ts';
import { sharedService } from '../../support/service.ts';
import { allEvents, type Body, calendarRecords, create, get, MONDAYS, PLACES, put, update } from './calendar.ts';

const service = sharedService(calendarRecords);

describe('recurrenceTarget', () => {
  it.each<[name: string, query: Record<string, string>, error: string]>([
    ['is required', {}, 'query.missing recurrenceTarget'],
    ['is required, not empty', { recurrenceTarget: '' }, 'query.missing recurrenceTarget'],
    ['is upper case', { recurrenceTarget: 'series' }, 'field.choice recurrenceTarget'],
    ['is upper case throughout', { recurrenceTarget: 'Occurrence' }, 'field.choice recurrenceTarget'],
    ['is one of two', { recurrenceTarget: 'ALL' }, 'field.choice recurrenceTarget'],
    ['has nothing around it', { recurrenceTarget: ' SERIES' }, 'field.choice recurrenceTarget'],
  ])('of PUT %s', async (_name, query, error) => {
    const event = await create(service);
    const called = await service.call('PUT', `/events/${event.id}`, { body: { title: 'Changed' }, query });
    expect(refusalOf(called)).toEqual({ status: 400, errors: [error] });
    expect(await get(service, event.id)).toEqual(event);
  });

  it('is told with everything else that is wrong, before a record is missing', async () => {
    const body = { title: '', color: 'x', provider: { id: PROVIDERS.gone }, recurrenceType: 'DAILY' };
    const wrong = [
      'query.missing recurrenceTarget',
      'field.length title',
      'field.format color',
      'field.choice recurrenceType',
    ];
    const query = { responseFields: 'nosuch' };
    const event = await create(service);
    const called = await service.call('PUT', `/events/${event.id}`, { body, query });
    const errors = ['query.fields responseFields', ...wrong, 'field.conflict provider.id'];
    expect(refusalOf(called)).toEqual({ status: 400, errors });
    for (const id of [String(NOWHERE), 'nosuch']) {
      const missing = await service.call('PUT', `/events/${id}`, { body });
      expect(refusalOf(missing)).toEqual({ status: 400, errors: wrong });
      const fine = await service.call('PUT', `/events/${id}`, {
        body: { title: 'Fine' },
        query: { recurrenceTarget: 'SERIES' },
      });
      expect(refusalOf(fine)).toEqual({ status: 404, errors: ['record.not_found id'] });
    }
  });
});

describe('PUT of one occurrence', () => {
  it.each<[name: string, before: Body, body: Body, after: Body]>([
    ['a title alone', {}, { title: 'Renamed' }, { title: 'Renamed' }],
    [
      'null for what may be absent',
      { description: 'x', operatory: { id: OPERATORIES.one }, location: { id: LOCATIONS.east } },
      { description: null, operatory: null },
      { description: null, operatory: null },
    ],
    [
      'null for what has a default',
      { duration: 30, color: '000000' },
      { duration: null, color: null },
      { duration: 60, color: 'bbbbbb', end: '2026-03-02T17:00:00.000Z' },
    ],
    [
      'a start in local time',
      {},
      { start: '2026-03-10T10:00' },
      { start: '2026-03-10T16:00:00.000Z', end: '2026-03-10T17:00:00.000Z' },
    ],
    [
      "a start in the location's time, whatever is sent",
      { location: { id: PLACES.london } },
      { start: '2026-03-10T10:00' },
      { start: '2026-03-10T10:00:00.000Z' },
    ],
    ['a duration', {}, { duration: 5 }, { duration: 5, end: '2026-03-02T16:05:00.000Z' }],
    [
      'the whole day',
      {},
      { allDay: true },
      { allDay: true, start: '2026-03-02T07:00:00.000Z', end: '2026-03-03T06:59:00.000Z', duration: 1439 },
    ],
    [
      'the whole of another day',
      {},
      { allDay: true, start: '2026-03-09T22:00' },
      { start: '2026-03-09T06:00:00.000Z', duration: 1439 },
    ],
    [
      'another day of the whole day',
      { allDay: true },
      { start: '2026-03-09T22:00' },
      { allDay: true, start: '2026-03-09T06:00:00.000Z' },
    ],
    [
      'no longer the whole day',
      { allDay: true },
      { allDay: false },
      { allDay: false, start: '2026-03-02T07:00:00.000Z', end: '2026-03-02T08:00:00.000Z', duration: 60 },
    ],
    ['null for the whole day', { allDay: true }, { allDay: null }, { allDay: false, duration: 60 }],
    [
      'no longer the whole day, with times',
      { allDay: true },
      { allDay: false, start: '2026-03-02T13:00', duration: 90 },
      { start: '2026-03-02T20:00:00.000Z', end: '2026-03-02T21:30:00.000Z' },
    ],
    [
      'a duration that the whole day overrules',
      { allDay: true },
      { duration: 30, title: 'Closed' },
      { title: 'Closed', duration: 1439 },
    ],
  ])('takes %s', async (_name, given, body, after) => {
    const before = await create(service, given);
    service.clock.advance(1000);
    const changed = await update(service, before.id, body, 'OCCURRENCE');
    expect(changed).toMatchObject({ ...after, lastModified: service.clock.text() });
    expect(await get(service, before.id)).toEqual(changed);
    const told = new Set([...Object.keys(body), ...Object.keys(after), 'start', 'end', 'duration', 'lastModified']);
    for (const [name, value] of Object.entries(before))
      if (!told.has(name)) expect(changed[name as 'id'], name).toEqual(value);
  });

  it('of a series leaves the others as they are', async () => {
    const first = await create(service, MONDAYS);
    const [, second, ...others] = await allEvents(service, first.groupId);
    service.clock.advance(1000);
    await update(service, second!.id, { title: 'Moved', start: '2026-03-10T11:00' }, 'OCCURRENCE');
    const after = await allEvents(service, first.groupId);
    expect(after).toEqual([
      first,
      {
        ...second,
        title: 'Moved',
        start: '2026-03-10T17:00:00.000Z',
        end: '2026-03-10T18:00:00.000Z',
        lastModified: service.clock.text(),
      },
      ...others,
    ]);
  });

  it('answers the fields asked for', async () => {
    const { id } = await create(service);
    const query = { recurrenceTarget: 'OCCURRENCE', responseFields: 'title,location.id' };
    const called = await service.call('PUT', `/events/${id}`, { body: { title: 'Short' }, query });
    expect(rowOf(called)).toEqual({ id, type: 'EventV1', title: 'Short', location: { id: PLACES.denver } });
  });

  it('ignores location and the read-only properties with a warning', async () => {
    const event = await create(service);
    const body = {
      location: { id: LOCATIONS.east },
      end: 'never',
      id: 1,
      lastModified: null,
      groupId: 'g',
      type: 5,
      title: 'Kept',
    };
    const called = await put(service, event.id, body, 'OCCURRENCE');
    expect(called.status).toBe(200);
    expect(warningSources(called)).toEqual(['location', 'end', 'id', 'lastModified', 'groupId', 'type']);
    expect(rowOf(called)).toEqual({ ...event, title: 'Kept' });
  });

  it.each<[name: string, body: Body, errors: readonly string[]]>([
    ['an empty title', { title: '' }, ['field.length title']],
    ['null as title', { title: null }, ['field.missing title']],
    ['null as start', { start: null }, ['field.missing start']],
    ['a start that is no date-time', { start: 'tomorrow' }, ['field.format start']],
    ['a duration of 4', { duration: 4 }, ['field.range duration']],
    ['a duration over midnight', { duration: 900 }, ['field.conflict duration']],
    ['a start too near midnight', { start: '2026-03-02T23:30' }, ['field.conflict start']],
    ['an operatory of another location', { operatory: { id: OPERATORIES.three } }, ['field.conflict operatory.id']],
    ['an inactive provider', { provider: { id: PROVIDERS.gone } }, ['field.conflict provider.id']],
    ['a provider who is no person', { provider: { id: PROVIDERS.lab } }, ['field.conflict provider.id']],
    ['an unknown provider', { provider: { id: NOWHERE } }, ['field.link_unknown provider.id']],
    ['a colour with #', { color: '#bbbbb' }, ['field.format color']],
    ['an unknown property', { colour: 'bbbbbb' }, ['body.unknown_property colour']],
    [
      'recurrence properties',
      { ...MONDAYS },
      ['recurrenceType', 'recurrenceEnd', 'recurrenceFrequency', 'recurrenceDays'].map(
        (name) => `field.conflict ${name}`,
      ),
    ],
    ['a recurrence property alone', { recurrenceWeek: 'LAST' }, ['field.conflict recurrenceWeek']],
  ])('refuses %s', async (_name, body, errors) => {
    const event = await create(service, { location: { id: LOCATIONS.east } });
    expect(refusalOf(await put(service, event.id, body, 'OCCURRENCE'))).toEqual({ status: 400, errors });
    expect(await get(service, event.id)).toEqual(event);
  });

  it.each<[name: string, body: Body]>([
    ['another end', { recurrenceEnd: '2026-04-30' }],
    ['a type and another end', { recurrenceType: 'WEEKLY', recurrenceEnd: '2026-04-30' }],
    ['a type alone', { recurrenceType: 'WEEKLY' }],
    ['another frequency', { recurrenceFrequency: 2 }],
    ['other days', { recurrenceDays: ['FRIDAY'] }],
    ['another start', { recurrenceStart: '2026-03-03' }],
    ['no recurrence', { recurrenceType: null }],
  ])('of a series refuses %s', async (_name, body) => {
    const event = await create(service, MONDAYS);
    const errors = Object.keys(body).map((name) => `field.conflict ${name}`);
    expect(refusalOf(await put(service, event.id, body, 'OCCURRENCE'))).toEqual({ status: 400, errors });
  });

  it.each<[name: string, given: Body]>([
    ['a single event', {}],
    ['an occurrence', MONDAYS],
    ['a whole day', { allDay: true }],
  ])('that changes nothing leaves %s untouched (D44)', async (_name, given) => {
    const event = await create(service, given);
    const before = await allEvents(service);
    service.clock.advance(1000);
    for (const target of ['OCCURRENCE', 'SERIES']) {
      for (const body of [{}, { title: event.title }, event as unknown as Body]) {
        const called = await put(service, event.id, body, target);
        expect(called.status, called.text).toBe(200);
        expect(rowOf(called)).toEqual(event);
      }
    }
    expect(await allEvents(service)).toEqual(before);
  });

  it('does not judge a provider again who left after the event was made', async () => {
    const event = await create(service, { provider: { id: PROVIDERS.ben } });
    await service.import([
      { type: 'Provider', organizationId: '5f0c1e2d3a4b5c6d7e8f9a0b', id: PROVIDERS.ben, isActive: false },
    ]);
    const body = { title: 'Still here', provider: { id: PROVIDERS.ben } };
    expect(await update(service, event.id, body, 'OCCURRENCE')).toMatchObject(body);
    expect((await put(service, (await create(service)).id, body, 'OCCURRENCE')).status).toBe(400);
  });
});
