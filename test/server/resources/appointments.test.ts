import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refusalOf, rowOf, rowsOf, type WireRecord, warningSources } from '../../support/calls.ts';
import { LOCATIONS, OPERATORIES, PATIENTS, PROVIDERS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';

let service: TestService;
beforeEach(async () => {
  service = await testService(bareRecords());
});
afterEach(() => service.close());

const BODY = {
  start: '2026-03-10T15:00:00Z',
  patient: { id: PATIENTS.ann },
  provider: { id: PROVIDERS.ann },
  operatory: { id: OPERATORIES.one },
};
const post = (body: WireRecord = {}) => service.call('POST', '/appointments', { body: { ...BODY, ...body } });
const posted = async (body: WireRecord = {}) => rowOf(await post(body));
async function put(id: unknown, body: WireRecord): Promise<WireRecord> {
  service.clock.advance(60_000);
  return rowOf(await service.call('PUT', `/appointments/${id}`, { body }));
}
const histories = async () => rowsOf(await service.call('GET', '/appointmenthistories'));
const missed = async () => rowsOf(await service.call('GET', '/missedappointments', { query: { lastId: 0 } }));

describe('appointments (D27)', () => {
  it('are filled in where nothing is said', async () => {
    expect(await posted()).toMatchObject({
      id: 1,
      type: 'AppointmentV1',
      start: '2026-03-10T15:00:00.000Z',
      end: '2026-03-10T16:00:00.000Z',
      duration: 60,
      status: 'UNCONFIRMED',
      location: { id: LOCATIONS.east },
      asap: false,
      needsFollowUp: false,
      bookedOnline: false,
      created: service.clock.text(),
      lastModified: service.clock.text(),
    });
  });

  it('end with their duration, and are where their operatory is', async () => {
    const { id } = await posted({ duration: 30 });
    expect(await put(id, { duration: 95 })).toMatchObject({
      start: '2026-03-10T15:00:00.000Z',
      end: '2026-03-10T16:35:00.000Z',
    });
    expect(await put(id, { start: '2026-03-11T10:00:00Z' })).toMatchObject({
      duration: 95,
      end: '2026-03-11T11:35:00.000Z',
    });
    expect(await put(id, { operatory: { id: OPERATORIES.three } })).toMatchObject({ location: { id: LOCATIONS.west } });
    const called = await service.call('PUT', `/appointments/${id}`, {
      body: { location: { id: LOCATIONS.east }, end: 'x' },
    });
    expect(warningSources(called)).toEqual(['location', 'end']);
    expect(rowOf(called).location).toEqual({ id: LOCATIONS.west });
  });

  it('read local times in the zone of their place: the operatory sent, else the one booked', async () => {
    const { id, start } = await posted({ start: '2026-03-10T09:00:00' });
    // New York is at UTC−4 since two days, Los Angeles at −7.
    expect(start).toBe('2026-03-10T13:00:00.000Z');
    expect(await put(id, { start: '2026-03-10 10:00' })).toMatchObject({ start: '2026-03-10T14:00:00.000Z' });
    expect(await put(id, { start: '2026-03-10T10:00', operatory: { id: OPERATORIES.three } })).toMatchObject({
      start: '2026-03-10T17:00:00.000Z',
    });
  });

  it('may overlap, and go from any status to any other', async () => {
    await posted();
    expect((await post()).status).toBe(201);
    const { id } = await posted({ status: 'completed' });
    for (const status of ['LATE', 'BROKEN', 'COMPLETED', 'NO_SHOW', 'CANCELLEDBYOFFICE', 'HERE']) {
      expect((await put(id, { status: status.toLowerCase() })).status).toBe(status);
    }
  });

  it('keep the production of an import through a PUT', async () => {
    await service.import([line('AppointmentV1', { id: 50, ...BODY, production: { amount: 200.5, writeOff: 20 } })]);
    await put(50, { note: 'changed' });
    const report = await service.call('GET', '/locationproductionnetschedule', {
      query: { filter: 'fromDate==2026-03-10' },
    });
    expect(report.body.data).toEqual([{ date: '2026-03-10T15:00:00.000Z', scheduledAmount: 18_050 }]);
  });
});

describe('appointment histories (D26)', () => {
  it('tell every change made through the server, once', async () => {
    const { id } = await posted({ note: 'first' });
    await put(id, { status: 'CONFIRMED' });
    await put(id, {});
    await put(id, { note: null, start: '2026-03-12T15:00:00Z' });
    await service.call('DELETE', `/appointments/${id}`);
    const rows = await histories();
    expect(rows.map(({ action, status, note, start }) => [action, status, note, start])).toEqual([
      ['CREATE', 'UNCONFIRMED', 'first', '2026-03-10T15:00:00.000Z'],
      ['UPDATE', 'CONFIRMED', 'first', '2026-03-10T15:00:00.000Z'],
      ['UPDATE', 'CONFIRMED', null, '2026-03-12T15:00:00.000Z'],
      ['DELETE', 'CONFIRMED', null, '2026-03-12T15:00:00.000Z'],
    ]);
    expect(rows[0]).toMatchObject({
      type: 'AppointmentHistoryV1',
      appointment: { id },
      patient: { id: PATIENTS.ann },
      location: { id: LOCATIONS.east },
      user: null,
    });
    expect(rows.map(({ created }) => created)).toEqual(rows.map(({ lastModified }) => lastModified));
    expect(rows.at(-1)?.created).toBe(service.clock.text());
  });

  it('are not written by imports or by what is refused', async () => {
    await service.import([line('AppointmentV1', { id: 50, ...BODY })]);
    await service.call('POST', '/appointments', { body: { ...BODY, duration: 0 } });
    await service.call('PUT', '/appointments/50', { body: { duration: 'x' } });
    expect(await histories()).toEqual([]);
  });
});

describe('missed appointments (specification, States and transitions; D28)', () => {
  const summary = async () => (await missed()).map(({ status, rescheduledOn }) => [status, rescheduledOn]);

  it('begin when an appointment becomes BROKEN or NO_SHOW, by POST too', async () => {
    await posted({ status: 'NO_SHOW' });
    const { id } = await posted({ note: 'Note', other: 'Other' });
    await put(id, { status: 'BROKEN' });
    expect(await summary()).toEqual([
      ['NO_SHOW', null],
      ['BROKEN', null],
    ]);
    expect((await missed())[1]).toMatchObject({
      appointment: { id },
      start: '2026-03-10T15:00:00.000Z',
      duration: 60,
      patient: { id: PATIENTS.ann },
      provider: { id: PROVIDERS.ann },
      operatory: { id: OPERATORIES.one },
      location: { id: LOCATIONS.east },
      note: 'Note',
      other: 'Other',
    });
  });

  it('follow the appointment inside those, and close when it leaves them', async () => {
    const { id } = await posted({ status: 'BROKEN' });
    await put(id, { status: 'BROKEN', note: 'same status' });
    await put(id, { status: 'NO_SHOW' });
    expect(await summary()).toEqual([['NO_SHOW', null]]);
    // Moving the visit changes neither its status nor the occurrence that was missed.
    await put(id, { start: '2026-03-20T15:00:00Z' });
    expect((await missed())[0]).toMatchObject({ start: '2026-03-10T15:00:00.000Z', rescheduledOn: null });
    const kept = await put(id, { status: 'CONFIRMED' });
    expect(kept).toMatchObject({ start: '2026-03-20T15:00:00.000Z', end: '2026-03-20T16:00:00.000Z' });
    expect(await summary()).toEqual([['NO_SHOW', service.clock.text()]]);
    const closed = service.clock.text();
    await put(id, { status: 'BROKEN' });
    await put(id, { status: 'HERE', start: '2026-03-25T15:00:00Z' });
    expect(await summary()).toEqual([
      ['NO_SHOW', closed],
      ['BROKEN', service.clock.text()],
    ]);
  });

  it('outlive their appointment, and can be deleted for good', async () => {
    const { id } = await posted({ status: 'BROKEN' });
    await service.call('DELETE', `/appointments/${id}`);
    expect(await summary()).toEqual([['BROKEN', null]]);
    expect((await service.call('DELETE', '/missedappointments/1')).body.data).toEqual({ id: 1 });
    expect(await summary()).toEqual([]);
    const next = await posted({ status: 'BROKEN' });
    await service.call('DELETE', '/missedappointments/2');
    await put(next.id, { status: 'HERE' });
    expect(await summary()).toEqual([]);
  });

  it('take status, cancelledOn and reasonCancelled, and never change the appointment', async () => {
    const { id } = await posted({ status: 'BROKEN' });
    const body = {
      status: 'no_show',
      cancelledOn: '2026-03-09T09:00:00',
      reasonCancelled: 'Ill',
      rescheduledOn: '2026-01-01T00:00:00Z',
      note: 'x',
    };
    const called = await service.call('PUT', '/missedappointments/1', { body });
    // New York is at UTC−4 on that day.
    expect(rowOf(called)).toMatchObject({
      status: 'NO_SHOW',
      cancelledOn: '2026-03-09T13:00:00.000Z',
      reasonCancelled: 'Ill',
      rescheduledOn: null,
      note: null,
    });
    expect(warningSources(called)).toEqual(['rescheduledOn', 'note']);
    expect(rowOf(await service.call('GET', `/appointments/${id}`)).status).toBe('BROKEN');
  });

  it('stay closed when they are changed, and when the open one of their appointment is deleted', async () => {
    const { id } = await posted({ status: 'BROKEN' });
    await put(id, { status: 'HERE' });
    const closed = service.clock.text();
    const changed = await service.call('PUT', '/missedappointments/1', { body: { reasonCancelled: 'Ill' } });
    expect(rowOf(changed)).toMatchObject({ reasonCancelled: 'Ill', rescheduledOn: closed });
    await put(id, { status: 'BROKEN' });
    await service.call('DELETE', '/missedappointments/2');
    await put(id, { status: 'NO_SHOW' });
    await put(id, { status: 'HERE' });
    expect(await summary()).toEqual([['BROKEN', closed]]);
  });

  it.each<[WireRecord, string]>([
    [{ status: 'HERE' }, 'field.choice status'],
    [{ status: null }, 'field.missing status'],
    [{ reasonCancelled: 'x'.repeat(201) }, 'field.length reasonCancelled'],
    [{ cancelledOn: 'yesterday' }, 'field.format cancelledOn'],
  ])('refuse %j', async (body, error) => {
    await posted({ status: 'BROKEN' });
    expect(refusalOf(await service.call('PUT', '/missedappointments/1', { body }))).toEqual({
      status: 400,
      errors: [error],
    });
  });

  it('have no POST', async () => {
    expect((await service.call('POST', '/missedappointments', { body: {} })).status).toBe(405);
  });
});
