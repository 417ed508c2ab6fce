import { yearOf } from '../calendar.ts';
import type { Person } from '../people.ts';
import { type Random, weights } from '../random.ts';
import type { Coverage, Estimate } from './coverage.ts';
import type { Application, Entry } from './entries.ts';
import type { Posting } from './posting.ts';
import { tagged } from './tags.ts';

/** A claim sent to a plan for one visit. */
export interface Claim {
  readonly id: number;
  readonly person: Person;
  readonly day: number;
  readonly major: boolean;
  status: 'PENDING' | 'PAID' | 'DENIED';
}

/** A covered charge with what the plan promises for it. */
export interface CoveredCharge {
  readonly charge: Entry;
  readonly estimate: Estimate;
}

/** What is left to the household after a claim: when it is final, and cents a charge that the plan did not pay. */
export interface ClaimOutcome {
  readonly settled: boolean;
  readonly day: number;
  readonly left: ReadonlyMap<Entry, number>;
}

const DELAYS = weights<(random: Random) => number>([
  [(random) => random.between(8, 35), 88],
  [(random) => random.between(36, 75), 9],
  [(random) => random.between(76, 140), 3],
]);

const MINUTE = 9 * 60 + 15;

/** Posts what came of a claim by the last day: nothing yet, a denial, or a payment and the write-off. */
export function postClaim(
  posting: Posting,
  coverage: Coverage,
  claim: Claim,
  covered: readonly CoveredCharge[],
): ClaimOutcome {
  const { random, lastDay } = posting;
  const day = claim.day + random.weighted(DELAYS)(random);
  const denied = random.chance(0.015);
  const short = random.chance(0.1) ? random.between(60, 90) : 100;
  if (day > lastDay) {
    for (const { charge, estimate } of covered)
      charge.estimate = { insurance: estimate.insurance, writeOff: estimate.writeOff };
    return { settled: false, day, left: new Map() };
  }
  const year = coverage.year(yearOf(claim.day));
  if (denied) {
    claim.status = 'DENIED';
    year.promised -= sumOf(covered.map(({ estimate }) => estimate.insurance));
    return {
      settled: true,
      day,
      left: new Map(covered.map(({ charge, estimate }) => [charge, estimate.insurance + estimate.writeOff])),
    };
  }
  claim.status = 'PAID';
  const paid = covered.map(({ charge, estimate }) => ({
    charge,
    cents: Math.round((estimate.insurance * short) / 100),
  }));
  const total = sumOf(paid.map(({ cents }) => cents));
  year.paid += total;
  year.promised += total - sumOf(covered.map(({ estimate }) => estimate.insurance));
  postInsurancePayment(posting, claim, day, paid, short < 100);
  postWriteOff(posting, claim, day, covered);
  const left = new Map<Entry, number>();
  for (const [index, { charge, cents }] of paid.entries()) {
    charge.estimate = { insurance: cents, writeOff: 0 };
    left.set(charge, (covered[index]?.estimate.insurance ?? 0) - cents);
  }
  return { settled: true, day, left };
}

function postInsurancePayment(
  posting: Posting,
  claim: Claim,
  day: number,
  paid: Application[],
  partial: boolean,
): void {
  const { ledger, random, practice, lastDay } = posting;
  const applied = paid.filter(({ cents }) => cents > 0);
  const total = sumOf(applied.map(({ cents }) => cents));
  if (total === 0) return;
  const extra = random.chance(0.01) ? 100 * random.between(5, 60) : 0;
  const base = {
    ledgerType: 'InsurancePayment',
    person: claim.person,
    provider: applied[0]?.charge.provider ?? 0,
    partial,
    fields: { insuranceClaim: { id: claim.id }, insurancePayment: { id: practice.ids.next('InsurancePayment') } },
  } as const;
  const wrongBy = random.chance(0.015) ? 100 * random.between(1, 20) : 0;
  const correctedOn = day + random.between(1, 5);
  const refundedOn = day + random.between(10, 40);
  const refund = extra > 0 && refundedOn <= lastDay ? refundTo(posting, claim, base.provider, refundedOn, extra) : [];
  const right = { ...base, cents: -(total + extra), applied: [...applied, ...refund] };
  if (wrongBy === 0 || wrongBy >= total || correctedOn > lastDay) {
    ledger.add({ ...right, day, minute: MINUTE });
    return;
  }
  const wrong = ledger.add({
    ...base,
    cents: -(total - wrongBy),
    day,
    minute: MINUTE,
    applied: reduced(applied, wrongBy),
  });
  ledger.correct(wrong, ledger.add({ ...right, day: correctedOn, minute: MINUTE, note: 'Corrected amount' }));
}

/** Money the plan paid too much and gets back. */
function refundTo({ ledger }: Posting, claim: Claim, provider: number, day: number, cents: number): Application[] {
  const charge = ledger.add({
    ledgerType: 'InsuranceRefundAdjustment',
    cents,
    person: claim.person,
    provider,
    day,
    minute: MINUTE + 60,
    note: 'Overpayment returned to the plan',
    fields: { insuranceClaim: { id: claim.id }, transactionTags: tagged('Refund') },
  });
  return [{ charge, cents }];
}

function postWriteOff({ ledger }: Posting, claim: Claim, day: number, covered: readonly CoveredCharge[]): void {
  const applied = covered
    .map(({ charge, estimate }) => ({ charge, cents: estimate.writeOff }))
    .filter(({ cents }) => cents > 0);
  const total = sumOf(applied.map(({ cents }) => cents));
  if (total === 0) return;
  ledger.add({
    ledgerType: 'PatientCreditAdjustment',
    cents: -total,
    person: claim.person,
    provider: applied[0]?.charge.provider ?? 0,
    day,
    minute: MINUTE + 1,
    automatic: true,
    applied,
    fields: { insuranceClaim: { id: claim.id }, transactionTags: tagged('Insurance write-off') },
  });
}

/** The same parts, less by some cents in all, taken from the last ones first. */
function reduced(applied: readonly Application[], cents: number): Application[] {
  let off = cents;
  const kept = applied.toReversed().map((part) => {
    const taken = Math.min(off, part.cents);
    off -= taken;
    return { ...part, cents: part.cents - taken };
  });
  return kept.filter((part) => part.cents > 0).reverse();
}

export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
