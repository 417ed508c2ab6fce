import { describe, expect, it, onTestFinished } from 'vitest';
import { idsOf, rowOf, type WireRecord, warningSources } from '../../support/calls.ts';
import { LOCATIONS, ORGANIZATION, PATIENTS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { sharedService, type TestService } from '../../support/service.ts';

const row = (id: number, record: WireRecord = {}) =>
  line('Transaction', {
    id,
    ledgerType: 'PatientProcedurePayment',
    amount: -10,
    transactionDate: '2026-03-01',
    patient: { id: PATIENTS.ann },
    location: { id: LOCATIONS.east },
    ...record,
  });

/** The clock stands at 2026-03-02 12:00 UTC, which is the same day in Denver; a year ago was 2025-03-02. */
const dated = [
  row(1, { transactionDate: '2025-03-01' }),
  row(2, { transactionDate: '2025-03-02' }),
  row(3, { transactionDate: '2026-03-02' }),
];
const created = (createdDate: string) => ({
  type: 'Organization',
  id: ORGANIZATION,
  timezone: 'America/Denver',
  createdDate,
});

const history = (id: number, lastModified: string) =>
  line('AppointmentHistoryV1', { id, lastModified, action: 'CREATE' });
const histories = [history(1, '2025-03-02T11:59:59.999Z'), history(2, '2025-03-02T12:00:00Z')];

describe('without a date filter (D13)', () => {
  const old = sharedService(() => [...bareRecords(), ...dated, ...histories]);
  const young = sharedService(() => [...bareRecords(), ...dated, created('2026-03-02')]);

  const list = (service: TestService, filter: string) => service.call('GET', '/transactions', { query: { filter } });
  const count = (service: TestService, filter: string) =>
    service.call('GET', '/transactions/totalcount', { query: { filter } });

  it.each([
    ['a year ago', old, [2, 3]],
    ['the creation of the organization, when that is later', young, [3]],
  ] as const)('transactions begin at %s, and say so', async (_name, service, ids) => {
    for (const filter of [
      `patient.id==${PATIENTS.ann}`,
      'id->[1,2,3]',
      'ledgerType!=InsurancePayment',
      'location.id==ALL',
    ]) {
      const called = await list(service, filter);
      expect(idsOf(called)).toEqual(ids);
      expect(called.body.warnings).toEqual([
        { title: 'Default date filter', description: expect.any(String), source: 'transactionDate' },
      ]);
      expect(called.body.meta?.pagination.total).toBe(ids.length);
      const counted = await count(service, filter);
      expect(counted.body.data).toEqual({ total: ids.length });
      expect(warningSources(counted)).toEqual(['transactionDate']);
    }
  });

  it('transactions begin on the day of the office, in its evening too, when it is the next day in UTC', async () => {
    old.clock.advance(17 * 60 * 60_000);
    onTestFinished(() => old.clock.advance(-17 * 60 * 60_000));
    expect(old.clock.text()).toBe('2026-03-03T05:00:00.000Z');
    const called = await list(old, 'id->[1,2,3]');
    expect([idsOf(called), called.body.warnings]).toEqual([
      [2, 3],
      [expect.objectContaining({ description: expect.stringContaining('transactionDate>=2025-03-02 ') })],
    ]);
  });

  it('transactions of all times are there when a date is asked for, whichever', async () => {
    for (const filter of [
      'transactionDate>=0001-01-01',
      'lastModified>=0001-01-01T00:00:00Z',
      'transactionDate<9999-12-31,id->[1,2,3]',
    ]) {
      const called = await list(old, filter);
      expect([idsOf(called), called.body.warnings]).toEqual([[1, 2, 3], []]);
    }
  });

  it('appointment histories begin a year ago, and say so', async () => {
    const called = await old.call('GET', '/appointmenthistories');
    expect([idsOf(called), warningSources(called)]).toEqual([[2], ['lastModified']]);
    expect((await old.call('GET', '/appointmenthistories/totalcount')).body.data).toEqual({ total: 1, totalCount: 1 });
    const all = await old.call('GET', '/appointmenthistories', { query: { filter: 'lastModified<2030-01-01' } });
    expect([idsOf(all), warningSources(all)]).toEqual([[1, 2], []]);
  });
});

describe('corrections (specification, Transaction corrections; D25)', () => {
  const service = sharedService(bareRecords);
  const get = async (id: number) => rowOf(await service.call('GET', `/transactions/${id}`));

  it('replace the original, in whichever order the two come', async () => {
    await service.import([
      row(12, { previousTransaction: { id: 11 } }),
      row(11, { lastModified: '2026-01-01T00:00:00Z' }),
    ]);
    expect(await get(11)).toMatchObject({
      isActive: false,
      replacedByTransaction: { id: 12 },
      lastModified: service.clock.text(),
    });
    expect(await get(12)).toMatchObject({
      isActive: true,
      previousTransaction: { id: 11 },
      replacedByTransaction: null,
    });
  });

  it('replace one that was there before, and stay when the import comes again', async () => {
    await service.import([row(21)]);
    await service.import([row(22, { previousTransaction: { id: 21 } })]);
    expect(await get(21)).toMatchObject({ isActive: false, replacedByTransaction: { id: 22 } });
    service.clock.advance(1000);
    const before = await get(21);
    await service.import([row(22, { previousTransaction: { id: 21 } })]);
    expect(await get(21)).toEqual(before);
  });

  it('can be corrected themselves', async () => {
    await service.import([
      row(33, { previousTransaction: { id: 32 } }),
      row(32, { previousTransaction: { id: 31 } }),
      row(31),
    ]);
    expect(
      [await get(31), await get(32), await get(33)].map(({ isActive, replacedByTransaction }) => [
        isActive,
        replacedByTransaction,
      ]),
    ).toEqual([
      [false, { id: 32 }],
      [false, { id: 33 }],
      [true, null],
    ]);
  });
});

describe('required locations (D12)', () => {
  const service = sharedService(bareRecords, { requireLocation: true });

  it.each([
    '/patients',
    '/events',
    '/appointments',
    '/missedappointments',
    '/patients/totalcount',
    '/events/totalcount',
    '/patients/async',
  ])('%s needs one when the setting is on', async (path) => {
    const key = path.startsWith('/patients') ? 'preferredLocation.id' : 'location.id';
    const refused = await service.call('GET', path);
    expect(refused.status).toBe(400);
    expect(refused.body.errors).toEqual([expect.objectContaining({ code: 'filter.missing', source: key })]);
    for (const term of [`${key}->[ALL]`, `${key}->["ALL"]`, `${key}->[${LOCATIONS.east}]`]) {
      expect((await service.call('GET', path, { query: { filter: term } })).status).toBe(200);
    }
  });
});
