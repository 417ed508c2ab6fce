import fc from 'fast-check';
import { type Line, location, patient } from '../support.ts';
import type { Ledger } from './oracle.ts';

/** The first day of the tests is 2026-03-02; ages are given in days before it. */
const TODAY = Date.UTC(2026, 2, 2);

/** Ids as in the wild (D1). */
const id = (n: number) => 70_000_000_000_000 + n;
/** Ids of patients: some next to each other, some far apart. */
const person = (n: number) => [100, 101, 1400, 1_400_000, 1_400_001, 3_000_000_000][n]! + 70_000_000_000_000;

export const LOCATIONS = [5, 6, 7] as const;
/** Zones on both sides of the date line, and a location in the organization's zone. */
export const ZONES = new Map([
  [0, 'America/Denver'],
  [6, 'Pacific/Kiritimati'],
  [7, 'Pacific/Pago_Pago'],
]);

const cents = fc.oneof(
  fc.constantFrom(0, 1, -1, 10, 20, 30, -30, 100, 10_000, -10_000),
  fc.integer({ min: -20_000, max: 20_000 }),
);
const small = fc.oneof(fc.constantFrom(0, 1, 10, 20, 10_000), fc.integer({ min: 0, max: 15_000 }));
const ages = fc.oneof(fc.constantFrom(-40, -1, 0, 1, 29, 30, 31, 32, 59, 60, 61, 62, 89, 90, 91, 92), fc.nat(800));

const draft = fc.record({
  patient: fc.nat(20),
  location: fc.nat(3),
  cents,
  age: ages,
  active: fc.constantFrom(true, true, true, true, false, undefined),
  insurance: fc.boolean(),
  estimate: fc.option(fc.record({ insurance: small, writeOff: small }), { nil: undefined }),
  distributions: fc.array(
    fc.record({ charge: fc.nat(30), cents: small, active: fc.constantFrom(true, true, true, false, undefined) }),
    { maxLength: 3 },
  ),
});

type Draft = typeof draft extends fc.Arbitrary<infer T> ? T : never;

/** A practice, and what later imports change of it. */
export const practices = fc.record({
  guarantors: fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
  drafts: fc.array(draft, { minLength: 1, maxLength: 24 }),
  /** Every so many-th row corrects the one before it; 0: none does. */
  corrections: fc.constantFrom(0, 0, 5, 7),
  claims: fc.array(fc.record({ patient: fc.nat(20), status: fc.constantFrom('PENDING', 'PAID', 'DENIED') }), {
    maxLength: 5,
  }),
  changes: fc.array(fc.record({ at: fc.nat(30), draft }), { maxLength: 6 }),
  deletions: fc.array(fc.nat(30), { maxLength: 4 }),
  moves: fc.array(fc.record({ patient: fc.nat(20), guarantor: fc.nat(20), byPut: fc.boolean() }), { maxLength: 3 }),
  order: fc.infiniteStream(fc.nat(1000)),
  limit: fc.constantFrom(1, 2, 3, 5, 8, 1000),
  hour: fc.nat(47),
});

export type Generated = typeof practices extends fc.Arbitrary<infer T> ? T : never;

/** A step of a practice's life: lines to import, or a patient's new guarantor by PUT. */
export type Step = { readonly lines: readonly Line[] } | { readonly patient: number; readonly guarantor: number };

function dateOf(age: number): string {
  return new Date(TODAY - age * 86_400_000).toISOString().slice(0, 10);
}

function transactionOf(made: Draft, n: number, patients: number): Line {
  const dollars = (value: number) => value / 100;
  return {
    type: 'Transaction',
    id: id(n),
    ledgerType:
      made.cents >= 0 ? 'PatientProcedureLedger' : made.insurance ? 'InsurancePayment' : 'PatientCreditAdjustment',
    amount: dollars(made.cents),
    transactionDate: dateOf(made.age),
    patient: { id: person(made.patient % patients) },
    ...(made.location < 3 && { location: { id: LOCATIONS[made.location] } }),
    ...(made.active !== undefined && { isActive: made.active }),
    ...(made.estimate && {
      estimate: { insurance: dollars(made.estimate.insurance), writeOff: dollars(made.estimate.writeOff) },
    }),
    distributions: made.distributions.map((part) => ({
      chargeId: id(part.charge),
      appliedAmount: dollars(part.cents),
      ...(part.active !== undefined && { isActive: part.active }),
    })),
  };
}

function shuffled<T>(items: readonly T[], order: Iterator<number>): T[] {
  return items
    .map((item) => ({ item, rank: order.next().value as number }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

/** The steps of a generated practice, and the ledger that they must lead to. */
export function lifeOf(made: Generated, now: number): { readonly steps: readonly Step[]; readonly ledger: Ledger } {
  const size = made.guarantors.length;
  const order = made.order[Symbol.iterator]();
  const guarantors = new Map(made.guarantors.map((guarantor, n) => [person(n), person(guarantor % size)]));
  const rows = new Map(made.drafts.map((one, n) => [n, transactionOf(one, n + 1, size)]));
  const corrected = new Set<number>();
  if (made.corrections > 0) {
    for (let n = made.corrections; n < rows.size; n += made.corrections) {
      rows.set(n, { ...rows.get(n)!, previousTransaction: { id: id(n) } });
      corrected.add(n).add(n - 1);
    }
  }
  const claims = made.claims.map(({ patient: n, status }, index) => ({
    type: 'InsuranceClaim',
    id: index + 1,
    patient: { id: person(n % size) },
    status,
  }));
  const people = [...guarantors].map(([one, guarantor]) => patient(one, guarantor));
  const places = [location(5), location(6, ZONES.get(6)), location(7, ZONES.get(7))];
  const steps: Step[] = [{ lines: shuffled([...places, ...people, ...claims, ...rows.values()], order) }];
  for (const n of corrected)
    if (corrected.has(n + 1) && rows.get(n + 1)!.previousTransaction) rows.set(n, { ...rows.get(n)!, isActive: false });

  const changes: Line[] = [];
  for (const { at, draft: one } of made.changes) {
    const n = at % (rows.size + 2);
    if (corrected.has(n)) continue;
    rows.set(n, transactionOf(one, n + 1, size));
    changes.push(rows.get(n)!);
  }
  steps.push({ lines: changes });
  const deletions = made.deletions.map((at) => at % rows.size).filter((n) => !corrected.has(n) && rows.has(n));
  for (const n of deletions) rows.delete(n);
  steps.push({ lines: deletions.map((n) => ({ type: 'Transaction', id: id(n + 1), deleted: true })) });

  for (const { patient: one, guarantor, byPut } of made.moves) {
    const [who, whom] = [person(one % size), person(guarantor % size)];
    guarantors.set(who, whom);
    steps.push(byPut ? { patient: who, guarantor: whom } : { lines: [patient(who, whom)] });
  }
  return { steps, ledger: { transactions: [...rows.values()], guarantors, claims, zones: ZONES, now } };
}
