import sql from 'sql-template-tag';
import { afterEach, expect, it, vi } from 'vitest';
import { Statements } from '../../../src/server/store/sqlite/statements.ts';
import { LOCATIONS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { testService } from '../../support/service.ts';

afterEach(() => vi.restoreAllMocks());

const IDS = Array.from({ length: 20 }, (_, index) => index + 1);
const patients = IDS.map((id) => line('PatientV1', { id, firstName: 'Pat', lastName: `No ${id}` }));
const charges = IDS.map((id) =>
  line('Transaction', {
    id,
    ledgerType: 'PatientChargeAdjustment',
    amount: 10,
    transactionDate: '2026-02-01',
    patient: { id },
    location: { id: LOCATIONS.east },
  }),
);

it.each([
  ['before', [...charges, ...patients]],
  ['behind', [...patients, ...charges]],
])('transactions that come %s their patients are never looked for by patient', async (_name, records) => {
  // An empty store is filled without its indexes: each look would pass over every transaction there is.
  const run = vi.spyOn(Statements.prototype, 'run');
  const service = await testService([...bareRecords(), ...records], { store: 'sqlite' });
  const looks = run.mock.calls.filter(([statement]) => statement.sql.includes('t.patient_id ='));
  expect(looks).toEqual([]);
  const report = await service.call('GET', '/agingbalances/report', {
    query: { filter: `location.id==${LOCATIONS.east},page==1` },
  });
  expect(report.status).toBe(200);
  const { patientReports } = report.body.data as { patientReports: readonly unknown[] };
  expect(patientReports).toHaveLength(IDS.length);
  await service.close();
});

const booked = IDS.map((id) =>
  line('AppointmentV1', {
    id,
    start: '2026-02-02T15:00:00Z',
    patient: { id },
    provider: { id: 900 },
    operatory: { id: 901 },
  }),
);
const provider = line('Provider', { id: 900, lastName: 'Thornwick' });
const operatory = line('Operatory', { id: 901, name: 'Room 1', location: { id: LOCATIONS.east } });

it.each([
  ['behind', [...booked, provider, operatory]],
  ['before', [provider, operatory, ...booked]],
])('appointments are where their operatory is, which is told of %s them', async (_name, records) => {
  const [atOnce, inParts] = [
    await testService([...bareRecords(), ...patients, ...records]),
    await testService([...bareRecords(), ...patients]),
  ];
  await inParts.import(records);
  for (const { call, close } of [atOnce, inParts]) {
    const { body } = await call('GET', '/appointments', { query: { filter: `location.id==${LOCATIONS.east}` } });
    expect(body.data).toHaveLength(IDS.length);
    expect(body.data).toContainEqual(expect.objectContaining({ id: 1, location: { id: LOCATIONS.east } }));
    await close();
  }
});

it('a place that is told of behind its appointments is looked for a few times, not by each of them', async () => {
  const get = vi.spyOn(Statements.prototype, 'get');
  const records = [...bareRecords(), ...patients, ...booked, provider, operatory];
  const service = await testService(records, { store: 'sqlite' });
  const looks = get.mock.calls.filter(([{ values }]) => values.includes(900) || values.includes(901));
  expect(looks.length).toBeLessThan(5);
  await service.close();
});

const [first = {}] = booked;

it('a line that waits does not keep one of another kind waiting that has its id', async () => {
  const near = line('Location', { id: 902, name: 'Coast', timezone: 'America/Los_Angeles' });
  const room = line('Operatory', { id: 901, name: 'Room 1', location: { id: 902 } });
  const visits = [901, 902].map((id) => ({ ...first, id, start: '2026-01-15T09:00:00' }));
  const service = await testService([...bareRecords(), ...patients, ...visits, provider, room, near]);
  const { body } = await service.call('GET', '/appointments');
  const start = '2026-01-15T17:00:00.000Z';
  expect(body.data).toEqual([901, 902].map((id) => expect.objectContaining({ id, start })));
  await service.close();
});

it.each([
  ['is changed', { ...first, note: 'Later.' }, { data: { note: 'Later.', location: { id: LOCATIONS.east } } }],
  ['is deleted', { ...first, deleted: true }, { statusCode: 404 }],
])('an appointment whose operatory comes last %s by the last line of its own', async (_name, again, left) => {
  const records = [...bareRecords(), ...patients, first, again, provider, operatory];
  const service = await testService(records);
  const { body } = await service.call('GET', `/appointments/${first.id}`);
  expect(body).toMatchObject(left);
  await service.close();
});

it('a deletion that waits for the line of an operatory is counted', async () => {
  const service = await testService([...bareRecords(), ...patients]);
  const summary = await service.import([first, { ...first, deleted: true }, provider, operatory]);
  expect(summary).toEqual({ imported: { AppointmentV1: 1, Provider: 1, Operatory: 1 }, deleted: 1 });
  await service.close();
});

it('any number of lines that wait for the line of an operatory are read, in their order', async () => {
  // Two lines for each: the second one is read last, pages of them later.
  const many = Array.from({ length: 650 }, (_, n) => ({ ...first, id: (n % 325) + 1, note: `Line ${n}` }));
  const service = await testService([...bareRecords(), ...patients]);
  const summary = await service.import([...many, provider, operatory]);
  expect(summary.imported.AppointmentV1).toBe(650);
  const rows = await service.service.store.read.all<{ note: string }>(
    sql`SELECT json_extract(r.json, '$.note') AS note FROM appointments r ORDER BY r.id`,
  );
  expect(rows.map(({ note }) => note)).toEqual(many.slice(325).map(({ note }) => note));
  await service.close();
});
