import {
  BILLING_TYPES,
  big,
  CLAIMS,
  ELSEWHERE,
  EXAMS,
  LOCATIONS,
  OPERATORIES,
  ORGANIZATION,
  OTHER_ORGANIZATION,
  PATIENTS,
  PLANS,
  PROVIDERS,
  REFERRALS,
  TOKENS,
} from './ids.ts';
import { FIXTURES } from './resources.ts';

export { ORGANIZATION, OTHER_ORGANIZATION, TOKENS };

type ImportRecord = Readonly<Record<string, unknown>>;

const ALL_SCOPES = ['model:read', 'model:write', 'practice:read'];

/** A line of one kind in one organization. */
export function line(type: string, record: ImportRecord, organizationId: string = ORGANIZATION): ImportRecord {
  return { type, organizationId, ...record };
}

export function organizationRecords(): ImportRecord[] {
  return [
    { type: 'Organization', id: ORGANIZATION, name: 'Near', timezone: 'America/Denver', createdDate: '2019-05-01' },
    { type: 'Organization', id: OTHER_ORGANIZATION, name: 'Far', timezone: 'Europe/Berlin', createdDate: '2020-01-01' },
  ];
}

export function tokenRecords(): ImportRecord[] {
  const token = (
    name: keyof typeof TOKENS,
    organizations: readonly string[],
    scopes: readonly string[],
    expiresAt?: string,
  ) => ({
    type: 'AccessToken',
    token: TOKENS[name],
    organizations,
    scopes,
    ...(expiresAt !== undefined && { expiresAt }),
  });
  return [
    token('full', [ORGANIZATION], ALL_SCOPES),
    token('other', [OTHER_ORGANIZATION], ALL_SCOPES),
    token('both', [ORGANIZATION, OTHER_ORGANIZATION], ALL_SCOPES),
    token('read', [ORGANIZATION], ['model:read']),
    token('write', [ORGANIZATION], ['model:write']),
    token('practice', [ORGANIZATION], ['practice:read']),
    token('none', [ORGANIZATION], []),
    token('expired', [ORGANIZATION], ALL_SCOPES, '2026-03-02T11:59:59.999Z'),
  ];
}

/** Records that have no endpoint and that others link to. */
export function referenceRecords(): ImportRecord[] {
  return [
    line('Location', { id: LOCATIONS.east, name: 'East', timezone: 'America/New_York' }),
    line('Location', { id: LOCATIONS.west, name: 'West', timezone: 'America/Los_Angeles' }),
    line('Location', { id: LOCATIONS.home, name: 'Home' }),
    line('Provider', { id: PROVIDERS.ann, firstName: 'Ann', lastName: 'Archer' }),
    line('Provider', { id: PROVIDERS.ben, firstName: 'Ben', lastName: 'Brook' }),
    line('Provider', { id: PROVIDERS.lab, lastName: 'Lab', isNonPersonEntity: true }),
    line('Provider', { id: PROVIDERS.gone, lastName: 'Gone', isActive: false }),
    line('Operatory', { id: OPERATORIES.one, name: 'One', location: { id: LOCATIONS.east } }),
    line('Operatory', { id: OPERATORIES.two, name: 'Two', location: { id: LOCATIONS.east } }),
    line('Operatory', { id: OPERATORIES.three, name: 'Three', location: { id: LOCATIONS.west } }),
    line('PerioExam', { id: EXAMS.one, patient: { id: PATIENTS.ann } }),
    line('PerioExam', { id: EXAMS.two, patient: { id: PATIENTS.bob } }),
    line('Referral', { id: REFERRALS.web, name: 'Web' }),
    line('Referral', { id: REFERRALS.sign, name: 'Sign' }),
    line('DiscountPlan', { id: PLANS.senior, name: 'Senior' }),
    line('BillingType', { id: BILLING_TYPES.cash, name: 'Cash' }),
    line('BillingType', { id: BILLING_TYPES.card, name: 'Card' }),
    line('BillingType', { id: BILLING_TYPES.plan, name: 'Plan' }),
    line('InsuranceClaim', { id: CLAIMS.sent, patient: { id: PATIENTS.ann }, status: 'PENDING' }),
    line('InsuranceClaim', { id: CLAIMS.paid, patient: { id: PATIENTS.bob }, status: 'PAID' }),
    ...elsewhere(),
  ];
}

/** The other practice: its own ids, and one of each kind that links are tried with. */
function elsewhere(): ImportRecord[] {
  const there = (type: string, record: ImportRecord) => line(type, record, OTHER_ORGANIZATION);
  return [
    there('Location', { id: ELSEWHERE.location, name: 'Elsewhere' }),
    there('Location', { id: LOCATIONS.east, name: 'East of elsewhere' }),
    there('Provider', { id: ELSEWHERE.provider, lastName: 'Elsewhere' }),
    there('Operatory', { id: ELSEWHERE.operatory, location: { id: ELSEWHERE.location } }),
    there('PatientV1', { id: ELSEWHERE.patient, firstName: 'Else', lastName: 'Where' }),
    there('PerioExam', { id: ELSEWHERE.exam, patient: { id: ELSEWHERE.patient } }),
    there('Referral', { id: ELSEWHERE.referral }),
    there('DiscountPlan', { id: ELSEWHERE.discountPlan }),
    there('BillingType', { id: ELSEWHERE.billingType, name: 'Elsewhere' }),
    there('InsuranceClaim', { id: ELSEWHERE.claim, patient: { id: ELSEWHERE.patient } }),
  ];
}

/** Both practices without records of resources but those that references need: patients Ann, Bob and Cleo. */
export function bareRecords(): ImportRecord[] {
  const patients = Object.entries(PATIENTS).map(([name, id]) =>
    line('PatientV1', { id, firstName: name, lastName: 'Smith', preferredLocation: { id: LOCATIONS.east } }),
  );
  return [...organizationRecords(), ...tokenRecords(), ...referenceRecords(), ...patients];
}

/** Both practices with the fixture records of every resource. */
export function allRecords(): ImportRecord[] {
  const here = FIXTURES.flatMap((fixture) => fixture.records.map((record) => line(fixture.resource.type, record)));
  const there = FIXTURES.flatMap((fixture) =>
    fixture.elsewhere.map((record) => line(fixture.resource.type, record, OTHER_ORGANIZATION)),
  );
  const references = referenceRecords().filter(({ type }) => type !== 'PatientV1');
  return [...organizationRecords(), ...tokenRecords(), ...references, ...here, ...there];
}

/** An id that a resource never had in the practice. */
export const NEVER = big(888_888);
