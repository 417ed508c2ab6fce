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
