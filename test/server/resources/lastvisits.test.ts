import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusalOf, type WireRecord } from '../../support/calls.ts';
import { LOCATIONS, NOWHERE, OPERATORIES, PATIENTS, PROVIDERS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';

let n = 0;
const visit = (patient: number, start: string, status: string, operatory: number = OPERATORIES.one) =>
  line('AppointmentV1', {
    id: ++n,
    start,
    status,
    patient: { id: patient },
    provider: { id: PROVIDERS.ann },
    operatory: { id: operatory },
  });
const ledger = (patient: number, transactionDate: string, record: WireRecord = {}) =>
  line('Transaction', {
    id: ++n,
    ledgerType: 'PatientProcedureLedger',
    amount: 10,
    transactionDate,
    patient: { id: patient },
    ...record,
  });
const patient = (id: number) => line('PatientV1', { id, firstName: 'P', lastName: String(id) });

const records = [
  ...bareRecords(),
  ...[1, 2, 3, 4, 5, 6, 7, 8].map(patient),
  line('Operatory', { id: 77, location: { id: LOCATIONS.home } }),
  // 1: the latest visit that took place, in any order, and neither a missed nor a planned one.
  visit(1, '2026-01-10T15:00:00Z', 'COMPLETED'),
  visit(1, '2026-02-10T15:00:00Z', 'CHECKOUT'),
  visit(1, '2026-01-20T15:00:00Z', 'COMPLETED'),
  ...['BROKEN', 'NO_SHOW', 'CONFIRMED', 'HERE', 'UNCONFIRMED', 'CANCELLEDBYOFFICE'].map((status) =>
    visit(1, '2026-03-01T15:00:00Z', status),
  ),
  // 2 to 4: 04:30 UTC is the day before in New York (UTC−5), Los Angeles and Denver alike; 05:30 only in the last two.
  visit(2, '2026-01-15T04:30:00Z', 'COMPLETED'),
  visit(3, '2026-01-15T05:30:00Z', 'COMPLETED'),
  visit(4, '2026-01-15T05:30:00Z', 'COMPLETED', OPERATORIES.three),
  visit(5, '2026-01-15T05:30:00Z', 'COMPLETED', 77),
  // 6: the later of visit and procedure; 7: procedures that do not count.
  visit(6, '2026-01-15T18:00:00Z', 'COMPLETED'),
  ledger(6, '2026-01-16'),
  ledger(6, '2026-01-14'),
  ledger(7, '2026-02-01', { isActive: false }),
  ledger(7, '2026-02-01', { ledgerType: 'PatientProcedurePayment', amount: -10 }),
  ledger(7, '2025-05-05'),
];

let service: TestService;
beforeAll(async () => {
  service = await testService(records);
});
afterAll(() => service.close());

const ask = (filter: string, responseFields = 'ALL') =>
  service.call('GET', '/patients/calculated', { query: { filter, responseFields } });

describe('GET /patients/calculated (D21)', () => {
  it.each([
    [1, '2026-02-10'],
    [2, '2026-01-14'],
    [3, '2026-01-15'],
    [4, '2026-01-14'],
    [5, '2026-01-14'],
    [6, '2026-01-16'],
    [7, '2025-05-05'],
    [8, null],
  ])('tells the last visit of patient %i: %s', async (id, lastVisitDate) => {
    expect((await ask(`patient.id==${id}`)).body.data).toEqual([{ id, lastVisitDate }]);
  });

  it('answers a row for each patient asked for, ascending and once, unknown ones left out', async () => {
    const called = await ask(`patient.id->[8,"1",6,1,${NOWHERE}]`, 'lastVisitDate');
    expect(called.body.data).toEqual([
      { id: 1, lastVisitDate: '2026-02-10' },
      { id: 6, lastVisitDate: '2026-01-16' },
      { id: 8, lastVisitDate: null },
    ]);
    expect((await ask(`patient.id->[1,6],patient.id==6`)).body.data).toEqual([{ id: 6, lastVisitDate: '2026-01-16' }]);
    expect((await ask(`patient.id->[1,6],patient.id==8`)).body.data).toEqual([]);
    expect((await ask(`patient.id==${PATIENTS.ann}`, 'id')).body.data).toEqual([{ id: PATIENTS.ann }]);
  });

  it('needs filter and responseFields, and says so of both at once', async () => {
    const without = await service.call('GET', '/patients/calculated');
    expect(refusalOf(without)).toEqual({
      status: 400,
      errors: ['filter.missing filter', 'query.missing responseFields'],
    });
    expect(refusalOf(await ask('patient.id==1', ''))).toEqual({
      status: 400,
      errors: ['query.missing responseFields'],
    });
    expect(refusalOf(await ask('', 'ALL'))).toEqual({ status: 400, errors: ['filter.missing filter'] });
    expect(refusalOf(await ask('patient.id==1', 'nosuch'))).toEqual({
      status: 400,
      errors: ['query.fields responseFields'],
    });
  });
});
