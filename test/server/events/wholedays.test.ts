import { describe, expect, it } from 'vitest';
import type { EventRecord } from '../../../src/server/resources/eventdrafts.ts';
import { sharedService } from '../../support/service.ts';
import { addedBy, calendarRecords, eventsNow, get, mondays, PLACES, startsOf, update } from './calendar.ts';

const service = sharedService(calendarRecords);

describe('a series of whole days', () => {
  it('makes it whole days and back', async () => {
    const events = await mondays(service);
    await update(service, events[0]!.id, { allDay: true });
    const days = (await eventsNow(service, events)) as EventRecord[];
    expect(startsOf(days)).toEqual(['03-02T07:00', '03-09T06:00', '03-16T06:00', '03-23T06:00', '03-30T06:00']);
    expect(days.map(({ duration, allDay }) => [duration, allDay])).toEqual(Array(5).fill([1439, true]));
    await update(service, events[1]!.id, { allDay: false, start: '2026-03-10T13:00' });
    const back = (await eventsNow(service, events)) as EventRecord[];
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
    const events = await mondays(service, body);
    expect(startsOf(events)).toEqual(['10-28T03:00', '11-04T03:00', '11-11T02:00']);
    await update(service, events[1]!.id, { start: '2018-11-05T23:00' });
    expect(startsOf((await eventsNow(service, events)) as EventRecord[])).toEqual([
      '10-28T03:00',
      '11-05T02:00',
      '11-12T02:00',
    ]);
  });

  it('begins hours again from midnight, also from one that was skipped', async () => {
    const body = {
      location: { id: PLACES.saoPaulo },
      start: '2018-10-28T12:00',
      allDay: true,
      recurrenceDays: ['SUNDAY'],
      recurrenceEnd: '2018-11-18',
    };
    const events = await mondays(service, body);
    await update(service, events[1]!.id, { allDay: false, start: '2018-11-04T10:00' });
    expect(startsOf((await eventsNow(service, events)) as EventRecord[])).toEqual([
      '10-28T03:00',
      '11-04T12:00',
      '11-11T12:00',
      '11-18T12:00',
    ]);
    const regenerated = await mondays(service, body);
    const fresh = await addedBy(service, () =>
      update(service, regenerated[1]!.id, { recurrenceDays: ['SUNDAY'], recurrenceEnd: '2018-11-11' }),
    );
    expect(startsOf([await get(service, regenerated[1]!.id), ...fresh])).toEqual(['11-04T03:00', '11-11T02:00']);
  });

  it('makes whole days of occurrences that were moved within their day', async () => {
    const events = await mondays(service);
    await update(service, events[1]!.id, { start: '2026-03-09T05:00' }, 'OCCURRENCE');
    await update(service, events[0]!.id, { allDay: true });
    expect(startsOf((await eventsNow(service, events)) as EventRecord[])).toEqual([
      '03-02T07:00',
      '03-09T06:00',
      '03-16T06:00',
      '03-23T06:00',
      '03-30T06:00',
    ]);
  });
});
