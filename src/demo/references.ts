import { instantText, utcStart } from './calendar.ts';
import { FIRST_ID, type NumberedKind } from './ids.ts';
import type { LocationPlan } from './locations.ts';
import type { Practice } from './practice.ts';
import type { DemoRecord } from './record.ts';

export const BILLING_TYPES = ['Standard', 'Payment plan', 'Collections', 'Courtesy', 'Staff and family'] as const;

export const DISCOUNT_PLANS = ['Smile Saver', 'Senior', 'New neighbor'] as const;

export const REFERRALS = [
  'Web search',
  'Insurance directory',
  'Drive-by',
  'Brightwater Orthodontics',
  'School fair',
] as const;

const CREATED_DAYS_AGO = 4_000;

/** The organization and the kinds that patients and activity link to (contract §7). */
export function* referenceRecords(practice: Practice): Generator<DemoRecord> {
  const { organizationId } = practice;
  yield {
    type: 'Organization',
    organizationId,
    id: organizationId,
    name: 'Bright Harbor Dental Group',
    timezone: practice.locations[0]?.town.timezone ?? 'UTC',
    createdDate: instantText(utcStart(practice.today - CREATED_DAYS_AGO)),
  };
  yield* named(organizationId, 'BillingType', BILLING_TYPES);
  yield* named(organizationId, 'DiscountPlan', DISCOUNT_PLANS);
  yield* named(organizationId, 'Referral', REFERRALS);
  for (const location of practice.locations) yield* locationRecords(organizationId, location);
}

function* named(organizationId: string, type: NumberedKind, names: readonly string[]): Generator<DemoRecord> {
  for (const [index, name] of names.entries()) yield { type, organizationId, id: FIRST_ID[type] + index, name };
}

function* locationRecords(organizationId: string, location: LocationPlan): Generator<DemoRecord> {
  const { id, name, town, providers, operatories } = location;
  yield { type: 'Location', organizationId, id, name, timezone: town.timezone };
  for (const provider of providers) {
    yield {
      type: 'Provider',
      organizationId,
      id: provider.id,
      firstName: provider.firstName,
      lastName: provider.lastName,
      isActive: provider.role !== 'left',
      isNonPersonEntity: provider.role === 'clinic',
    };
  }
  for (const operatory of operatories) {
    yield { type: 'Operatory', organizationId, id: operatory.id, name: operatory.name, location: { id } };
  }
}
