import { organizationDocuments, recordKeeper } from './documents.ts';
import { households } from './households.ts';
import { patientRecords } from './patients.ts';
import { type DemoOptions, planPractice } from './practice.ts';
import type { DemoRecord } from './record.ts';
import { referenceRecords } from './references.ts';
import { SIZES, type Size } from './sizes.ts';

/**
 * The synthetic practice as records of the import format (contract §7), one at a time: the organization, its
 * locations, staff and lists, then each household's patients with their perio exams and documents. The same size,
 * seed and date give the same records on every machine, and memory does not grow with the size. Throws when `today`
 * is no date.
 */
export function* demoRecords(size: Size, options: DemoOptions): Generator<DemoRecord> {
  const practice = planPractice(size, options);
  yield* referenceRecords(practice);
  yield* organizationDocuments(practice);
  const recordsKept = recordKeeper(practice, SIZES[size].documents);
  for (const household of households(practice)) {
    yield* patientRecords(practice, household);
    yield* recordsKept(household);
  }
}
