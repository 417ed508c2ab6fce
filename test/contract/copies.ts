import { saveToken } from '../../src/server/tokens/tokens.ts';
import type { Called, CallOptions } from '../support/calls.ts';
import { big, LOCATIONS, OPERATORIES, ORGANIZATION, PATIENTS, PROVIDERS, TOKENS } from '../support/ids.ts';
import { allRecords, line } from '../support/practice.ts';
import { type TestService, testService } from '../support/service.ts';

type Line = Readonly<Record<string, unknown>>;

/** What every location shares (contract §8): whoever is bound to some sees them all. */
const SHARED: ReadonlySet<unknown> = new Set([
  ...['Organization', 'AccessToken', 'Provider', 'Referral', 'DiscountPlan', 'BillingType', 'TransactionTagV1'],
]);

const STEP = 1_000_000;
const PLACES: ReadonlySet<unknown> = new Set(Object.values(LOCATIONS));

/** The lines of the fixtures that are of one location: all but what is shared, and the other two locations. */
const OWN = allRecords().filter(
  ({ type, id, organizationId, ownerOrganization }) =>
    organizationId === ORGANIZATION &&
    !SHARED.has(type) &&
    ownerOrganization === undefined &&
    !(type === 'Location' && id !== LOCATIONS.east),
);
const IDS: ReadonlySet<unknown> = new Set(OWN.map(({ id }) => id));

/** A value of the fixtures as the copy `n` of the practice has it: everything in one location, under ids of its own. */
export function inCopy<T>(n: number, value: T): T;
export function inCopy(n: number, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => inCopy(n, item));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inCopy(n, item)]));
  if (PLACES.has(value)) return LOCATIONS.east + n * STEP;
  return IDS.has(value) ? (value as number) + n * STEP : value;
}

const link = (id: number) => ({ id });

/** What the fixtures lack: hours of providers, and records without a location, which are where their patient is. */
const MORE: readonly Line[] = [
  ...['MONDAY', 'TUESDAY'].map((dayOfWeek, index) =>
    line('ScheduleTemplateV1', {
      id: big(1001 + index),
      ...{ location: link(LOCATIONS.east), operatory: link(OPERATORIES.one), provider: link(PROVIDERS.ann) },
      ...{ dayOfWeek, start: '08:00', end: '18:00', bookingTypes: ['RECARE'], reasons: [link(big(601))] },
    }),
  ),
  line('AppointmentHistoryV1', {
    id: big(590),
    ...{
      appointment: link(big(701)),
      patient: link(PATIENTS.ann),
      action: 'UPDATE',
      lastModified: '2026-02-03T08:00:00Z',
    },
  }),
  line('MissedAppointmentV1', { id: big(580), appointment: link(big(701)), patient: link(PATIENTS.bob) }),
];
const MORE_IDS = new Map(MORE.map(({ id }) => [id, (n: number) => (id as number) + n * STEP]));

/** The copy `n` of the practice as import lines. */
function copyLines(n: number): Line[] {
  return [...OWN, ...MORE].map((record) => ({
    ...inCopy(n, record),
    ...(MORE_IDS.has(record.id) && { id: MORE_IDS.get(record.id)?.(n) }),
  }));
}

/** Records of the copy 1 that are about what the copy 0 has: they are of another location all the same. */
const CROSSING: readonly Line[] = [
  line('PatientV1', {
    id: big(190),
    ...{ firstName: 'Elsewhere', lastName: 'Depends', preferredLocation: link(inCopy(1, LOCATIONS.east)) },
    primaryGuarantor: link(PATIENTS.ann),
  }),
  line('InsuranceClaim', { id: big(79), patient: link(big(190)), status: 'PENDING' }),
  line('PatientV1', {
    id: big(192),
    ...{ firstName: 'Elsewhere', lastName: 'Alone', preferredLocation: link(inCopy(1, LOCATIONS.east)) },
    primaryGuarantor: link(PATIENTS.bob),
  }),
  line('AppointmentV1', {
    id: big(790),
    ...{ status: 'COMPLETED', start: '2026-03-09T18:00:00Z', duration: 60 },
    ...{ patient: link(PATIENTS.ann), provider: link(PROVIDERS.ann), operatory: link(inCopy(1, OPERATORIES.one)) },
  }),
  ...[
    [490, 'PatientProcedureLedger', 77, []],
    [491, 'PatientCreditAdjustment', -33, [{ chargeId: big(401), appliedAmount: 33, isActive: true }]],
    [492, 'InsurancePayment', -3, [{ chargeId: big(401), appliedAmount: 3, isActive: true }]],
  ].map(([n, ledgerType, amount, distributions]) =>
    line('Transaction', {
      ...{ id: big(n as number), ledgerType, amount, distributions, transactionDate: '2026-02-28', isActive: true },
      ...{ patient: link(PATIENTS.ann), location: link(inCopy(1, LOCATIONS.east)) },
    }),
  ),
  // Nobody knows where this patient is.
  line('PatientV1', { id: big(191), firstName: 'Nowhere', lastName: 'Nowhere' }),
  line('PatientInsurancePlanV1', { id: big(690), patient: link(big(191)) }),
];

/** A credit of the copy 0 that is applied to a charge of the copy 1. */
const APPLIED_ELSEWHERE = line('Transaction', {
  ...{
    id: big(480),
    ledgerType: 'PatientCreditAdjustment',
    amount: -50,
    transactionDate: '2026-02-27',
    isActive: true,
  },
  ...{ patient: link(PATIENTS.bob), location: link(LOCATIONS.east) },
  distributions: [{ chargeId: big(490), appliedAmount: 40, isActive: true }],
});

const SHARED_LINES = allRecords().filter(
  ({ type, organizationId, ownerOrganization }) =>
    type === 'Organization' ||
    type === 'AccessToken' ||
    (organizationId === ORGANIZATION && (SHARED.has(type) || ownerOrganization !== undefined)),
);

/** Ids that the practice with one location alone has. */
export const KNOWN: ReadonlySet<unknown> = new Set(
  [...SHARED_LINES, ...copyLines(0), APPLIED_ELSEWHERE].map(({ id }) => id),
);

/** A token of the practice with several locations that is bound to the one of the copy 0. */
export const BOUND = 'token-bound-to-east';

/** A practice with three locations, and a token that is bound to the first of them. */
export async function threeLocations(options: Parameters<typeof testService>[1] = {}): Promise<TestService> {
  const copies = [0, 1, 2].flatMap(copyLines);
  const service = await testService([...SHARED_LINES, ...copies, APPLIED_ELSEWHERE, ...CROSSING], options);
  await bind(service, BOUND, [LOCATIONS.east]);
  return service;
}

/** A practice that has nothing but the first of these locations. */
export function oneLocation(): Promise<TestService> {
  return testService([...SHARED_LINES, ...copyLines(0), APPLIED_ELSEWHERE]);
}

/** Makes a token with all scopes for some locations. */
export async function bind({ service }: TestService, token: string, locations: readonly number[]): Promise<void> {
  await service.store.write((tx) =>
    saveToken(tx, token, {
      organizations: [ORGANIZATION],
      scopes: ['model:read', 'model:write', 'practice:read'],
      locations,
      ...{ label: null, createdAt: '2026-01-01T00:00:00.000Z', expiresAt: null },
    }),
  );
}

/** The same request to both: by the bound token, and where there is nothing else. */
export async function both(
  [all, own]: readonly [TestService, TestService],
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<readonly [bound: unknown, unbound: unknown]> {
  const bound = await all.call(method, path, { ...options, token: BOUND });
  const unbound = await own.call(method, path, { ...options, token: TOKENS.full });
  return [comparable(bound), comparable(unbound)];
}

/** What two services answer alike: links are signed with different keys, and new records have different ids and names. */
function comparable({ status, headers, text }: Called): unknown {
  return { status, link: headers.link, body: alike(text === '' ? null : JSON.parse(text)) };
}

const MADE = new Set(['guidName', 'thumbNailId', 'groupId']);

/** A value whose ids that no line had are numbered in the order of their appearance. */
export function alike(value: unknown): unknown {
  const found = new Map<number, string>();
  const one = (item: unknown, name?: string): unknown => {
    if (Array.isArray(item)) return item.map((each) => one(each));
    if (typeof item === 'object' && item !== null) {
      const pairs = Object.entries(item).map(([key, each]) => [key, one(each, key)]);
      return name === 'storage' ? pairs.map(([key]) => key) : Object.fromEntries(pairs);
    }
    if (name !== undefined && MADE.has(name) && item !== null) return 'made';
    if (typeof item !== 'number' || item < big(0) || KNOWN.has(item)) return item;
    if (!found.has(item)) found.set(item, `new ${found.size}`);
    return found.get(item);
  };
  return one(value);
}
