import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../support/calls.ts';
import { sharedService } from '../../support/service.ts';
import {
  addedBy,
  type Body,
  calendarRecords,
  create,
  eventsNow,
  get,
  MONDAY_STARTS,
  MONDAYS,
  mondays,
  put,
  shared,
  startsOf,
  update,
} from './calendar.ts';

const service = sharedService(calendarRecords);

describe('PUT of a series with recurrence properties', () => {
  const TUESDAYS: Body = {
    recurrenceType: 'WEEKLY',
    recurrenceFrequency: 2,
    recurrenceDays: ['TUESDAY'],
    recurrenceEnd: '2026-04-30',
  };

  it('makes the target and all later ones anew, the target under its id', async () => {
    const events = await mondays(service);
    const before = await eventsNow(service, events);
    const fresh = await addedBy(service, () =>
      update(service, events[2]!.id, { ...TUESDAYS, title: 'Tuesdays', duration: 30 }),
    );
    const after = await eventsNow(service, events);
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
    const events = await mondays(service);
    const fresh = await addedBy(service, () => update(service, events[1]!.id, { recurrenceDays: ['THURSDAY'] }));
    const target = await get(service, events[1]!.id);
    expect(target).toMatchObject({ ...MONDAYS, recurrenceStart: '2026-03-09', recurrenceDays: ['THURSDAY'] });
    expect(startsOf([target, ...fresh])).toEqual(['03-12T15:00', '03-19T15:00', '03-26T15:00']);
  });

  it('takes start with it', async () => {
    const events = await mondays(service);
    const body = { start: '2026-03-18T14:30', recurrenceDays: ['WEDNESDAY'], recurrenceEnd: '2026-03-25' };
    const fresh = await addedBy(service, () => update(service, events[2]!.id, body));
    const target = await get(service, events[2]!.id);
    expect(startsOf([target, ...fresh])).toEqual(['03-18T20:30', '03-25T20:30']);
    expect(target.recurrenceStart).toBe('2026-03-18');
  });

  it('goes from weeks to months', async () => {
    const events = await mondays(service);
    const body = {
      recurrenceType: 'MONTHLY',
      recurrenceWeek: 'LAST',
      recurrenceDay: 'MONDAY',
      recurrenceEnd: '2026-05-31',
    };
    const fresh = await addedBy(service, () => update(service, events[0]!.id, body));
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
    const events = await mondays(service);
    // Every second week from 2 March: the 2nd, 16th and 30th. The 2nd stays with the earlier ones.
    const body = { recurrenceStart: '2026-03-02', recurrenceFrequency: 2, recurrenceDays: ['MONDAY'] };
    const fresh = await addedBy(service, () => update(service, events[1]!.id, body));
    expect(startsOf([await get(service, events[1]!.id), ...fresh])).toEqual(['03-16T15:00', '03-30T15:00']);
    expect((await get(service, events[0]!.id)).start).toBe(events[0]!.start);
  });

  it('may begin earlier when the target is the first', async () => {
    const events = await mondays(service);
    const body = { recurrenceStart: '2026-02-20', recurrenceDays: ['MONDAY'], recurrenceEnd: '2026-03-03' };
    const fresh = await addedBy(service, () => update(service, events[0]!.id, body));
    expect(startsOf([await get(service, events[0]!.id), ...fresh])).toEqual(['02-23T16:00', '03-02T16:00']);
  });

  it('makes a single event the first of a new series', async () => {
    const event = await create(service);
    const fresh = await addedBy(service, () => update(service, event.id, { ...MONDAYS, title: 'Weekly' }));
    const target = await get(service, event.id);
    expect(startsOf([target, ...fresh])).toEqual(MONDAY_STARTS);
    expect(target).toMatchObject({ ...MONDAYS, title: 'Weekly', recurrenceStart: '2026-03-02' });
    expect(target.groupId).toEqual(expect.any(String));
    expect(fresh.map(shared)).toEqual(fresh.map(() => shared(target)));
  });

  it('makes the target single with recurrenceType null and removes the later ones', async () => {
    const events = await mondays(service);
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
    expect(await eventsNow(service, events)).toEqual([events[0], events[1], target, undefined, undefined]);
  });

  it('takes a cleared recurrenceStart for one that is not sent', async () => {
    const events = await mondays(service);
    expect(await addedBy(service, () => update(service, events[1]!.id, { recurrenceStart: null }))).toEqual([]);
    expect(await eventsNow(service, events)).toEqual(events);
    await update(service, events[1]!.id, { recurrenceStart: null, recurrenceDays: ['FRIDAY'] });
    expect((await get(service, events[1]!.id)).recurrenceStart).toBe('2026-03-09');
  });

  it('regenerates nothing when the recurrence that is sent is the one there is', async () => {
    const events = await mondays(service, { recurrenceDays: ['MONDAY', 'TUESDAY'] });
    const { id: _, lastModified: __, ...record } = events[2]!;
    const fresh = await addedBy(service, () =>
      update(service, events[2]!.id, { ...record, recurrenceDays: ['TUESDAY', 'MONDAY'], title: 'Renamed' }),
    );
    expect(fresh).toEqual([]);
    const expected = events.map((event, index) =>
      index < 2 ? event : { ...event, title: 'Renamed', lastModified: service.clock.text() },
    );
    expect(await eventsNow(service, events)).toEqual(expected);
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
    ['a cleared start', { start: null, recurrenceDays: ['FRIDAY'] }, ['field.missing start']],
    ['a frequency of 53', { recurrenceFrequency: 53, recurrenceDays: ['MONDAY'] }, ['field.range recurrenceFrequency']],
    [
      'null as type with an end',
      { recurrenceType: null, recurrenceEnd: '2026-04-30' },
      ['field.missing recurrenceType', 'field.missing recurrenceFrequency'],
    ],
  ])('refuses %s', async (_name, body, errors) => {
    const events = await mondays(service);
    expect(refusalOf(await put(service, events[2]!.id, body))).toEqual({ status: 400, errors });
    expect(await eventsNow(service, events)).toEqual(events);
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
