import { appointmentRecords } from './activity/appointments.ts';
import { claimRecords } from './activity/claimrecords.ts';
import { coveragesOf } from './activity/coverage.ts';
import { eventRecords } from './activity/events.ts';
import { postHousehold } from './activity/ledger.ts';
import { planRecord } from './activity/plans.ts';
import { tagRecords } from './activity/tags.ts';
import { templateRecords } from './activity/templates.ts';
import { transactionRecord } from './activity/transactions.ts';
import { worksOf } from './activity/works.ts';
import { households } from './households.ts';
import type { Household } from './people.ts';
import { type DemoOptions, type Practice, planPractice } from './practice.ts';
import { Random } from './random.ts';
import type { DemoRecord } from './record.ts';
import type { Size } from './sizes.ts';

/**
 * What the practice of `demoRecords` (same size, seed and date) has done in two years and has planned: schedules,
 * events, plans, appointments with histories and missed ones, claims with pictures, and the ledger. Every link leads
 * to a record of one of the two generators. One household at a time: memory does not grow with the size.
 */
export function* demoActivity(size: Size, options: DemoOptions): Generator<DemoRecord> {
  const practice = planPractice(size, options);
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
  const works = worksOf(household, coverages, practice.today, random);
  const { entries, claims } = postHousehold(practice, household, works, coverages);
  for (const [person, coverage] of coverages) yield planRecord(practice, person, coverage, random);
  for (const work of works) yield* appointmentRecords(practice, household, work, random);
  for (const claim of claims) yield* claimRecords(practice, claim, random);
  for (const entry of entries) yield transactionRecord(practice, household, entry);
}
