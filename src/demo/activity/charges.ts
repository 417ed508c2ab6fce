import { type Claim, type CoveredCharge, postClaim, sumOf } from './claims.ts';
import type { Entry } from './entries.ts';
import { type Posting, payDay } from './posting.ts';
import { tagged } from './tags.ts';
import type { Work } from './works.ts';

/** Enters a kept visit: its charges, the claim with what came of it, and what the household is to pay. */
export function postVisit(posting: Posting, work: Work): void {
  const { practice, ledger, random, style, coverages } = posting;
  const { person, visit, operatory } = work;
  const { day, start, duration } = visit.slot;
  const coverage = coverages.get(person);
  const promises = work.procedures.map(({ category, fee }) =>
    coverage?.covers(day, category) ? coverage.promise(day, category, fee) : null,
  );
  const claims = promises.some((promise) => promise !== null && promise.insurance > 0);
  const claim: Claim | null = claims
    ? {
        id: practice.ids.next('InsuranceClaim'),
        person,
        day,
        major: work.procedures.some(({ category }) => category === 'major'),
        status: 'PENDING',
      }
    : null;
  const covered: CoveredCharge[] = [];
  const own: [Entry, number][] = [];
  for (const [index, { name, category, fee }] of work.procedures.entries()) {
    const promise = claim === null ? null : (promises[index] ?? null);
    const met =
      promise !== null && promise.met > 0
        ? { [category === 'major' ? 'metMajor' : 'metBasic']: promise.met / 100 }
        : {};
    const charge = ledger.add({
      ledgerType: 'PatientProcedureLedger',
      cents: fee,
      person,
      provider: operatory.provider.id,
      day,
      minute: start + duration,
      note: name,
      fields: {
        patientProcedure: { id: practice.ids.next('PatientProcedure') },
        ...(promise !== null && claim !== null && { insuranceClaim: { id: claim.id } }),
        ...met,
      },
    });
    if (promise !== null) covered.push({ charge, estimate: promise });
    own.push([charge, promise === null ? fee : fee - promise.writeOff - promise.insurance]);
  }
  if (random.chance(0.004)) enterMistake(posting, own[0]?.[0]);
  const discount = claim === null && random.chance(person.age >= 65 ? 0.15 : 0.02) ? giveDiscount(posting, own) : 0;
  const outcome = claim === null || coverage === undefined ? null : postClaim(posting, coverage, claim, covered);
  if (claim !== null) posting.claims.push(claim);
  for (const [charge, cents] of own) {
    const rest = cents - Math.round((cents * discount) / 100);
    // Who pays at the visit pays the estimate then; whoever is billed waits for the plan.
    const known = style === 'prompt' || outcome === null ? day : outcome.day;
    addDue(posting, charge, rest, payDay(style, known, outcome?.settled ?? true));
    const left = outcome?.left.get(charge) ?? 0;
    if (outcome !== null)
      addDue(posting, charge, left, payDay(style === 'prompt' ? 'billed' : style, outcome.day, outcome.settled));
  }
}

/** Splits some larger dues into two payments. */
export function addDue({ dues, random, style }: Posting, charge: Entry, cents: number, day: number): void {
  if (cents <= 0) return;
  const half = Math.floor(cents / 2);
  if (cents > 20_000 && random.chance(style === 'prompt' ? 0.05 : 0.15)) {
    dues.push(
      { charge, cents: half, day, partial: true },
      { charge, cents: cents - half, day: day + 30, partial: true },
    );
  } else {
    dues.push({ charge, cents, day, partial: false });
  }
}

/** A charge entered by mistake and cancelled. */
function enterMistake({ ledger, practice }: Posting, like: Entry | undefined): void {
  if (like === undefined) return;
  const { person, provider, day, minute } = like;
  const fields = { patientProcedure: { id: practice.ids.next('PatientProcedure') } };
  const note = 'Entered in error';
  ledger.add({
    ledgerType: 'PatientProcedureLedger',
    cents: like.cents,
    person,
    provider,
    day,
    minute,
    note,
    fields,
  }).active = false;
}

/** Takes ten percent off charges that no plan covers; returns the percentage. */
function giveDiscount({ ledger }: Posting, own: readonly [Entry, number][]): number {
  const applied = own
    .map(([charge, cents]) => ({ charge, cents: Math.round(cents / 10) }))
    .filter(({ cents }) => cents > 0);
  const first = applied[0]?.charge;
  if (first === undefined) return 0;
  ledger.add({
    ledgerType: 'PatientCreditAdjustment',
    cents: -sumOf(applied.map(({ cents }) => cents)),
    person: first.person,
    provider: first.provider,
    day: first.day,
    minute: first.minute + 1,
    note: 'Courtesy discount',
    applied,
    fields: { transactionTags: tagged('Courtesy discount') },
  });
  return 10;
}
