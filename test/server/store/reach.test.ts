import { afterAll, beforeAll, expect, it } from 'vitest';
import { EVERYWHERE, locationOfRecord } from '../../../src/server/store/reach.ts';
import { LOCATIONS, NOWHERE, PATIENTS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await testService(bareRecords());
});
afterAll(() => service.close());

it.each([
  ['a plan of a patient', 'PatientInsurancePlanV1', { patient: { id: PATIENTS.ann } }, LOCATIONS.east],
  ['a plan of a patient whom nobody knows', 'PatientInsurancePlanV1', { patient: { id: NOWHERE } }, null],
  ['a document of an exam that nobody knows', 'DocumentV1', { ownerPerioExam: { id: NOWHERE } }, null],
  ['a document of nobody', 'DocumentV1', { ownerPatient: null }, EVERYWHERE],
  ['a tag of transactions', 'TransactionTagV1', {}, EVERYWHERE],
])('%s is at the location that its links name', async (_, type, record, location) => {
  const found = await locationOfRecord(service.service.store.read, 1, type, { id: 1, ...record } as never);
  expect(found).toBe(location);
});
