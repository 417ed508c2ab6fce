import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StreamMessage } from '../../../src/catalog/stream/messages.ts';
import { storedEntries } from '../../contract/trail.ts';
import type { Called, CallOptions, WireRecord } from '../../support/calls.ts';
import { idsOf, rowsOf } from '../../support/calls.ts';
import {
  CLAIMS,
  LOCATIONS,
  OPERATORIES,
  ORGANIZATION,
  OTHER_ORGANIZATION,
  PATIENTS,
  PROVIDERS,
  TOKENS,
} from '../../support/ids.ts';
import { allRecords, bareRecords, line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { allMessages, ownMessages, ownOrg } from './told.ts';

const { east, west } = LOCATIONS;
let service: TestService;
afterEach(() => service.close());

interface Delivered {
  readonly called: Called;
  /** The messages of this delivery alone. */
  readonly messages: readonly StreamMessage[];
}

async function ask(path: string, query: CallOptions['query'] = {}): Promise<Delivered> {
  const called = await service.call('GET', path, { query });
  await service.service.deliveries.idle();
  const correlationId = called.headers['x-correlation-id'];
  const messages = (await allMessages(service)).filter((message) => message.correlationId === correlationId);
  return { called, messages };
}

/** What is stored of the records of a delivery: whose each is, and where it is seen. */
async function storedOf({ called }: Delivered) {
  return service.service.store.read.all<{ record_id: number | null; patient_id: number | null; places: string }>(
    sql`SELECT record_id, patient_id, places FROM stream_messages
      WHERE correlation_id = ${called.headers['x-correlation-id']} ORDER BY seq`,
  );
}

const reads = ({ messages }: Delivered) => messages.filter(({ operation }) => operation === 'READ');
const ids = (delivered: Delivered) => reads(delivered).map(({ payload }) => payload.id);

const person = (id: number, lastName = 'Many') =>
  line('PatientV1', { id, firstName: 'One', lastName, preferredLocation: { id: id % 2 === 0 ? east : west } });
const visit = (id: number, start: string, changes: WireRecord = {}) =>
  line('AppointmentV1', {
    id,
    start,
    patient: { id: PATIENTS.ann },
    provider: { id: PROVIDERS.ann },
    operatory: { id: OPERATORIES.one },
    location: { id: east },
    ...changes,
  });

describe('an async delivery (D41)', () => {
  it('is every record, then the total, under the correlation id of the answer', async () => {
    const ofOthers = [2, 3].map((id) =>
      line('PatientV1', { id, firstName: 'One', lastName: 'Many', preferredLocation: null }, OTHER_ORGANIZATION),
    );
    const people = [person(1), person(2), person(3, 'Other'), person(4)];
    service = await testService([...bareRecords(), ...people, ...ofOthers]);
    const delivered = await ask('/patients/async', { filter: 'lastName==Many' });
    const { called, messages } = delivered;
    const correlationId = called.headers['x-correlation-id'];
    expect(correlationId).toMatch(/^[0-9a-f-]{36}$/);
    expect(idsOf(called)).toEqual([4, 2, 1]);
    const records = rowsOf(called);
    const message = (operation: string, locationId: unknown, payload: unknown) => ({
      id: expect.any(Number),
      routingKey: `${ORGANIZATION}.${locationId}.PatientV1.${operation}`,
      organizationId: ORGANIZATION,
      locationId: String(locationId),
      domainType: 'PatientV1',
      operation,
      sendTime: service.clock.text(),
      correlationId,
      payload,
    });
    // Patients descend (specification, Async endpoints).
    expect(messages).toEqual([
      message('READ', east, records[0]),
      message('READ', east, records[1]),
      message('READ', west, records[2]),
      message('READ_COMPLETE', '*', { total: 3 }),
    ]);
    // Whose data listeners are sent, which the audit log names; of earlier messages, the payload tells.
    const whose = [...[4, 2, 1].map((id) => [id, id]), [null, null]];
    expect((await storedOf(delivered)).map((row) => [row.record_id, row.patient_id])).toEqual(whose);
    const read = await service.service.stream.readMessages({ org: await ownOrg(service) }, 0, 1000);
    expect(read.messages.slice(-4).map(({ recordId, patientId }) => [recordId, patientId])).toEqual(whose);
  });

  it.each([
    ['patients', 'PatientV1', 'descending'],
    ['events', 'EventV1', 'ascending'],
    ['appointments', 'AppointmentV1', 'ascending'],
    ['imageattachments', 'ImageAttachmentV1', 'ascending'],
  ])('of %s is in the order of ids, and says whose each is, and where', async (name, domainType, order) => {
    service = await testService(allRecords());
    const delivered = await ask(`/${name}/async`);
    const found = ids(delivered).map(Number);
    expect(found.length).toBeGreaterThan(2);
    expect(found).toEqual(found.toSorted((a, b) => (order === 'ascending' ? a - b : b - a)));
    expect([...new Set(delivered.messages.map((message) => message.domainType))]).toEqual([domainType]);
    expect(delivered.messages.at(-1)).toMatchObject({ operation: 'READ_COMPLETE', payload: { total: found.length } });
    // Not each is of the patient whose number it has.
    const stored = await storedOf(delivered);
    const linked = (value: unknown) => (value as WireRecord | undefined)?.id;
    const ofClaims = new Map<unknown, number>([
      [CLAIMS.sent, PATIENTS.ann],
      [CLAIMS.paid, PATIENTS.bob],
    ]);
    const patientOf = (payload: WireRecord) =>
      name === 'patients' ? payload.id : (linked(payload.patient) ?? ofClaims.get(linked(payload.insuranceClaim)));
    const patients = reads(delivered).map(({ payload }) => patientOf(payload) ?? null);
    expect(stored.slice(0, -1).map((row) => row.patient_id)).toEqual(patients);
    expect(stored.slice(0, -1).map((row) => row.record_id)).toEqual(found);
    const first = delivered.messages[0]?.id ?? 0;
    const read = await service.service.stream.readMessages({ org: await ownOrg(service) }, first - 1, found.length);
    expect(read.messages.map(({ patientId }) => patientId)).toEqual(patients);
    // One that names no location is seen where its patient is.
    const people = new Map(rowsOf(await service.call('GET', '/patients')).map((row) => [row.id, row]));
    for (const [at, { payload }] of reads(delivered).entries()) {
      const place = payload.location ?? people.get(patients[at])?.preferredLocation;
      expect(stored[at]?.places).toBe(String(linked(place) ?? ''));
    }
    const [entry] = (await storedEntries(service)).filter(({ via }) => via === 'stream');
    expect(entry).toMatchObject({
      ids: found.toSorted((a, b) => a - b),
      patients: [...new Set(patients.filter((id) => id !== null))].sort((a, b) => Number(a) - Number(b)),
    });
    // The location that it names itself, also where those who are bound to one see it because of its patient.
    for (const { payload, locationId } of reads(delivered)) {
      expect(locationId).toBe(String(linked(payload.preferredLocation ?? payload.location) ?? '*'));
    }
  });

  it('has the fields that were asked for, and begins after lastId', async () => {
    service = await testService([...bareRecords(), ...[1, 2, 3, 4].map((id) => person(id))]);
    const filter = 'lastName==Many';
    const some = await ask('/patients/async', { filter, responseFields: 'lastName', lastId: 2 });
    expect(reads(some).map(({ payload, locationId }) => [payload, locationId])).toEqual([
      [{ id: 4, lastName: 'Many' }, String(east)],
      [{ id: 3, lastName: 'Many' }, String(west)],
    ]);
    expect(ids(await ask('/patients/async', { filter, pageSize: 1, page: 2 }))).toEqual([4, 3, 2, 1]);
  });

  it('of events filtered by start is in the order of ids too', async () => {
    const event = (id: number, start: string) =>
      line('EventV1', { id, title: 'E', start: `2026-03-${start}Z`, duration: 60, location: { id: east } });
    const events = [event(1, '12T15:00:00'), event(2, '14T15:00:00'), event(3, '13T15:00:00'), event(4, '13T05:59:59')];
    service = await testService([...bareRecords(), ...events]);
    expect(ids(await ask('/events/async', { filter: 'start>=2026-03-01' }))).toEqual([1, 2, 3, 4]);
    // The last is on the 12th where the organization is.
    expect(ids(await ask('/events/async', { filter: 'start>=2026-03-13' }))).toEqual([2, 3]);
  });

  it('of the production report is by appointment, at its location', async () => {
    service = await testService([
      ...bareRecords(),
      visit(1, '2026-03-10T18:00:00Z', { production: { amount: 10, writeOff: 1 } }),
      visit(2, '2026-03-10T15:00:00Z', { operatory: { id: OPERATORIES.three }, location: { id: west } }),
      visit(3, '2026-03-11T15:00:00Z'),
      visit(4, '2026-03-10T16:00:00Z', { status: 'BROKEN' }),
    ]);
    const path = '/locationproductionnetschedule/async';
    const delivered = await ask(path, { filter: 'fromDate==2026-03-10,location.id==ALL' });
    expect(rowsOf(delivered.called).map(({ date }) => date)).toEqual([
      '2026-03-10T15:00:00.000Z',
      '2026-03-10T18:00:00.000Z',
    ]);
    expect(delivered.messages.map(({ routingKey, payload }) => [routingKey, payload])).toEqual([
      [
        `${ORGANIZATION}.${east}.LocationProductionNetScheduleV1.READ`,
        { date: '2026-03-10T18:00:00.000Z', scheduledAmount: 900 },
      ],
      [
        `${ORGANIZATION}.${west}.LocationProductionNetScheduleV1.READ`,
        { date: '2026-03-10T15:00:00.000Z', scheduledAmount: 0 },
      ],
      [`${ORGANIZATION}.*.LocationProductionNetScheduleV1.READ_COMPLETE`, { total: 2 }],
    ]);
    const none = await ask(path, { filter: 'fromDate==2030-01-01,location.id==ALL' });
    expect([none.called.status, none.called.headers['x-correlation-id'], none.messages]).toEqual([404, undefined, []]);
  });

  it('of nothing is its total alone', async () => {
    service = await testService(bareRecords());
    const delivered = await ask('/events/async', { filter: 'title==nosuch' });
    expect(delivered.messages.map(({ operation, payload }) => [operation, payload])).toEqual([
      ['READ_COMPLETE', { total: 0 }],
    ]);
  });

  it('is not begun by a request that is refused', async () => {
    service = await testService(bareRecords());
    const before = (await allMessages(service)).length;
    for (const query of [{ filter: 'nosuch==1' }, { lastId: 'x' }, { responseFields: 'nosuch' }]) {
      const { called } = await ask('/events/async', query);
      expect([called.status, called.headers['x-correlation-id']]).toEqual([400, undefined]);
    }
    expect((await service.call('GET', '/events/async', { token: TOKENS.write })).status).toBe(403);
    await service.service.deliveries.idle();
    expect(await allMessages(service)).toHaveLength(before);
  });
});

it('a delivery of several chunks from the lowest id on has each record once', async () => {
  const visits = Array.from({ length: 250 }, (_, n) => visit(n + 1, '2026-03-02T15:00:00.000Z'));
  service = await testService([...allRecords(), ...visits]);
  const delivered = ids(
    await ask('/appointments/async', { filter: 'start>=2026-03-02T00:00:00.000Z,start<2026-03-03T00:00:00.000Z' }),
  );
  expect(delivered).toEqual(visits.map((_, n) => n + 1));
});

describe('a large delivery', () => {
  /** A little more than a chunk searches. */
  const COUNT = 2100;
  const people = Array.from({ length: COUNT }, (_, n) => person(n + 1));
  const wanted = people.map((_, n) => COUNT - n);
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'molar-delivery-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('takes turns with others, is told in the metrics, and finds what is furthest from where it begins', async () => {
    const furthest = person(1, 'Furthest');
    service = await testService([...bareRecords(), furthest, ...people.slice(1), person(COUNT + 1)], { data: folder });
    const filter = 'lastName==Many';
    const first = await service.call('GET', '/patients/async', { query: { filter } });
    const second = await service.call('GET', '/patients/async', { query: { filter } });
    await service.service.deliveries.idle();
    const order = (await allMessages(service))
      .filter(({ correlationId }) => correlationId !== null)
      .map(({ correlationId }) =>
        [first, second].findIndex((one) => one.headers['x-correlation-id'] === correlationId),
      );
    expect(order.filter((which) => which === 0)).toHaveLength(COUNT + 1);
    expect(order.filter((which) => which === 1)).toHaveLength(COUNT + 1);
    expect(order.indexOf(1)).toBeLessThan(COUNT);
    const metrics = (await service.app.inject('/metrics')).body;
    expect(metrics).toMatch(/^molar_async_deliveries_waiting 0$/m);
    expect(metrics).toMatch(/^molar_async_deliveries_total 2$/m);
    expect(metrics).toMatch(new RegExp(`^molar_async_records_total ${2 * COUNT}$`, 'm'));
    expect(metrics).toMatch(new RegExp(`^molar_stream_newest_message ${(await ownMessages(service)).length}$`, 'm'));
    expect(metrics).toMatch(/^molar_stream_oldest_message 1$/m);
    expect(metrics).toMatch(/^molar_stream_listeners 0$/m);
    // A chunk that searches 2,000 without finding any is not the last.
    expect(ids(await ask('/patients/async', { filter: 'lastName==Furthest' }))).toEqual([1]);
  });

  it('goes on where it was when the server is started again, every time it is stopped', async () => {
    const some = 350;
    service = await testService([...bareRecords(), ...people.slice(0, some)], { data: folder });
    const called = await service.call('GET', '/patients/async', { query: { filter: 'lastName==Many' } });
    const correlationId = called.headers['x-correlation-id'];
    const delivered = async () =>
      (await allMessages(service)).filter((message) => message.correlationId === correlationId);
    const complete = async () => (await delivered()).at(-1)?.operation === 'READ_COMPLETE';
    let stops = 0;
    for (;;) {
      await service.close();
      service = await testService([], { data: folder });
      if (await complete()) break;
      stops++;
      await service.app.ready();
      const { deliveries } = service.service;
      await expect.poll(() => deliveries.delivered + deliveries.completed, { interval: 1 }).toBeGreaterThan(0);
    }
    expect(stops).toBeGreaterThan(0);
    const messages = await delivered();
    expect(messages.slice(0, -1).map(({ payload }) => payload.id)).toEqual(wanted.slice(-some));
    expect(messages.at(-1)?.payload).toEqual({ total: some });
  });
});
