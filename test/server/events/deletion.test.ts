import { describe, expect, it } from 'vitest';
import { idsOf, refusalOf } from '../../support/calls.ts';
import { NOWHERE } from '../../support/ids.ts';
import { sharedService } from '../../support/service.ts';
import { allEvents, calendarRecords, create, MONDAYS, remove, update } from './calendar.ts';

const service = sharedService(calendarRecords);

describe('DELETE', () => {
  it('of a single event needs no recurrenceTarget and takes both', async () => {
    for (const query of [{}, { recurrenceTarget: 'OCCURRENCE' }, { recurrenceTarget: 'SERIES' }]) {
      const { id } = await create(service);
      const called = await service.call('DELETE', `/events/${id}`, { query });
      expect([called.status, called.body.data]).toEqual([200, { id }]);
      expect((await service.call('GET', `/events/${id}`)).status).toBe(404);
    }
  });

  it('of an occurrence needs recurrenceTarget', async () => {
    const first = await create(service, MONDAYS);
    const before = await allEvents(service);
    const called = await service.call('DELETE', `/events/${first.id}`);
    expect(refusalOf(called)).toEqual({ status: 400, errors: ['query.missing recurrenceTarget'] });
    expect(await allEvents(service)).toEqual(before);
  });

  it.each(['series', 'Occurrence', 'ALL'])('refuses %s, before a record is missing', async (recurrenceTarget) => {
    for (const id of [(await create(service)).id, NOWHERE]) {
      const called = await service.call('DELETE', `/events/${id}`, { query: { recurrenceTarget } });
      expect(refusalOf(called)).toEqual({ status: 400, errors: ['field.choice recurrenceTarget'] });
    }
    expect((await service.call('DELETE', `/events/${NOWHERE}`)).status).toBe(404);
  });

  it.each([
    ['OCCURRENCE', [0, 1, 3, 4]],
    ['SERIES', [0, 1]],
  ])('of %s leaves the occurrences %j', async (target, left) => {
    const first = await create(service, MONDAYS);
    const other = await create(service, MONDAYS);
    const series = await allEvents(service, first.groupId);
    await remove(service, series[2]!.id, target);
    expect(await allEvents(service, first.groupId)).toEqual(left.map((index) => series[index]));
    expect(await allEvents(service, other.groupId)).toHaveLength(5);
  });

  it('of SERIES goes by start, not by id', async () => {
    const first = await create(service, MONDAYS);
    const series = await allEvents(service, first.groupId);
    await update(service, series[0]!.id, { start: '2026-03-24T09:00' }, 'OCCURRENCE');
    await remove(service, series[3]!.id, 'SERIES');
    const ids = idsOf(await service.call('GET', '/events', { query: { filter: `groupId==${first.groupId}` } }));
    expect(ids).toEqual([series[1]!.id, series[2]!.id]);
  });

  it('never gives an id again', async () => {
    const { id } = await create(service);
    await remove(service, id, 'OCCURRENCE');
    expect((await create(service)).id).toBe(id + 1);
  });
});
