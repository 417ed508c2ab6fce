import { appointmentRecords, appointmentsOf } from './activity/appointments.ts';
import { postHousehold } from './activity/charges.ts';
import { claimRecords } from './activity/claims.ts';
import { coveragesOf } from './activity/coverage.ts';
import { eventRecords } from './activity/events.ts';
import { documentWriter, organizationDocuments } from './documents.ts';
import { type Household, households } from './households.ts';
import { patientRecord } from './patients.ts';
import { type DemoOptions, type DemoRecord, Practice, type Size } from './practice.ts';
import { Random } from './random.ts';
import { referenceRecords, tagRecords, templateRecords } from './references.ts';

/**
 * The synthetic practice as records of the import format (contract §7), one at a time: the organization, its
 * locations, staff and lists, then each household's patients with their perio exams and documents. The same size,
 * seed and date give the same records on every machine, and memory does not grow with the size. Throws when `today`
 * is no date.
 */
export function* demoRecords(size: Size, options: DemoOptions): Generator<DemoRecord> {
  const practice = new Practice(size, options);
  yield* referenceRecords(practice);
  yield* organizationDocuments(practice);
  const documentsOf = documentWriter(practice);
  for (const household of households(practice)) {
    for (const person of household.members) yield patientRecord(practice, household, person);
    yield* documentsOf(household);
  }
}

/**
 * What the practice of `demoRecords` (same size, seed and date) has done in two years and has planned: schedules,
 * events, plans, appointments with histories and missed ones, claims with pictures, and the ledger. Every link leads
 * to a record of one of the two generators. One household at a time: memory does not grow with the size.
 */
export function* demoActivity(size: Size, options: DemoOptions): Generator<DemoRecord> {
  const practice = new Practice(size, options);
  yield* tagRecords(practice);
  for (const location of practice.locations) {
    yield* templateRecords(practice, location);
    yield* eventRecords(practice, location);
  }
  for (const household of households(practice)) yield* householdActivity(practice, household);
}

function* householdActivity(practice: Practice, household: Household): Generator<DemoRecord> {
  const random = new Random(practice.seed, 7, household.index);
  const coverages = coveragesOf(practice, household, random);
  const appointments = appointmentsOf(household, coverages, practice.today, random);
  const ledger = postHousehold(practice, household, appointments, coverages);
  for (const [person, coverage] of coverages) yield coverage.record(practice, person, random);
  for (const appointment of appointments) yield* appointmentRecords(practice, household, appointment, random);
  for (const claim of ledger.claims) yield* claimRecords(practice, claim, random);
  yield* ledger.records();
}
