import { dateText, instantText, utcStart, yearOf } from '../calendar.ts';
import type { DemoRecord, Practice } from '../practice.ts';
import { type Random, weights } from '../random.ts';
import { tagged } from '../references.ts';
import type { Coverage, Estimate } from './coverage.ts';
import { type Application, type Claim, type Entry, type HouseholdLedger, sumOf } from './ledger.ts';

/** A charge with what a plan promises for it. */
export interface Covered {
  readonly charge: Entry;
  readonly estimate: Estimate;
}

/** What is left to the household after a claim: when it is final, and cents a charge that the plan did not pay. */
interface Outcome {
  readonly settled: boolean;
  readonly day: number;
  readonly left: ReadonlyMap<Entry, number>;
}

/** Days until a plan pays. */
const DELAYS = weights([
  [[8, 35], 88],
  [[36, 75], 9],
  [[76, 140], 3],
]);

const MINUTE = 9 * 60 + 15;

const PICTURES = [
  { examName: 'Bitewing X-ray', attachmentType: 'RADIOGRAPH', format: 'JPEG' },
  { examName: 'Periapical X-ray', attachmentType: 'RADIOGRAPH', format: 'PNG' },
  { examName: 'Intraoral photo', attachmentType: 'PHOTO', format: 'JPEG' },
] as const;

/** Posts what came of a claim by the last day: nothing yet, a denial, or a payment and the write-off. */
export function postClaim(
  ledger: HouseholdLedger,
  coverage: Coverage,
  claim: Claim,
  covered: readonly Covered[],
): Outcome {
  const { random, lastDay } = ledger;
  const [soonest, latest] = random.weighted(DELAYS);
  const day = claim.day + random.between(soonest, latest);
  const denied = random.chance(0.015);
  const percent = random.chance(0.1) ? random.between(60, 90) : 100;
  if (day > lastDay) {
    for (const { charge, estimate } of covered) charge.estimate = estimate;
    return { settled: false, day, left: new Map() };
  }
  const year = coverage.year(yearOf(claim.day));
  year.promised -= sumOf(covered.map(({ estimate }) => estimate.insurance));
  if (denied) {
    claim.status = 'DENIED';
    const left = covered.map(({ charge, estimate }) => [charge, estimate.insurance + estimate.writeOff] as const);
    return { settled: true, day, left: new Map(left) };
  }
  claim.status = 'PAID';
  const left = new Map<Entry, number>();
  const paid = covered.map(({ charge, estimate: { insurance } }) => {
    const cents = Math.round((insurance * percent) / 100);
    charge.estimate = { insurance: cents, writeOff: 0 };
    left.set(charge, insurance - cents);
    return { charge, cents };
  });
  const total = sumOf(paid.map(({ cents }) => cents));
  year.paid += total;
  year.promised += total;
  if (total > 0) postInsurancePayment(ledger, claim, day, paid.filter(isPositive), percent < 100);
  postWriteOff(ledger, claim, day, covered);
  return { settled: true, day, left };
}

function isPositive({ cents }: Application): boolean {
  return cents > 0;
}

function postInsurancePayment(
  ledger: HouseholdLedger,
  { id, person, provider }: Claim,
  day: number,
  applied: readonly Application[],
  partial: boolean,
): void {
  const { random, practice, lastDay } = ledger;
  const total = sumOf(applied.map(({ cents }) => cents));
  const extra = random.chance(0.01) ? 100 * random.between(5, 60) : 0;
  const insuranceClaim = { id };
  const insurancePayment = { id: practice.nextId('InsurancePayment') };
  const base = { ledgerType: 'InsurancePayment', person, provider, partial, minute: MINUTE } as const;
  const fields = { insuranceClaim, insurancePayment };
  const wrongBy = random.chance(0.015) ? 100 * random.between(1, 20) : 0;
  const correctedOn = day + random.between(1, 5);
  const refundedOn = day + random.between(10, 40);
  const parts = [...applied];
  if (extra > 0 && refundedOn <= lastDay) {
    const charge = ledger.add({
      ledgerType: 'InsuranceRefundAdjustment',
      cents: extra,
      ...{ person, provider, day: refundedOn, minute: MINUTE + 60 },
      note: 'Overpayment returned to the plan',
      fields: { insuranceClaim, transactionTags: tagged('Refund') },
    });
    parts.push({ charge, cents: extra });
  }
  const right = { ...base, fields, cents: -(total + extra), applied: parts };
  if (wrongBy === 0 || wrongBy >= total || correctedOn > lastDay) {
    ledger.add({ ...right, day });
    return;
  }
  const wrong = ledger.add({ ...base, fields, day, applied: reduced(applied, wrongBy) });
  ledger.correct(wrong, { ...right, day: correctedOn, note: 'Corrected amount' });
}

function postWriteOff(
  ledger: HouseholdLedger,
  { id, person, provider }: Claim,
  day: number,
  covered: readonly Covered[],
): void {
  const applied = covered.map(({ charge, estimate }) => ({ charge, cents: estimate.writeOff })).filter(isPositive);
  if (applied.length === 0) return;
  ledger.add({
    ledgerType: 'PatientCreditAdjustment',
    ...{ person, provider, day, minute: MINUTE + 1 },
    automatic: true,
    applied,
    fields: { insuranceClaim: { id }, transactionTags: tagged('Insurance write-off') },
  });
}

/** The same parts, less by some cents in all, taken from the last ones first. */
function reduced(applied: readonly Application[], cents: number): Application[] {
  let off = cents;
  const parts = applied.toReversed().map(({ charge, cents }) => {
    const taken = Math.min(off, cents);
    off -= taken;
    return { charge, cents: cents - taken };
  });
  return parts.filter(isPositive).reverse();
}

/** A claim, and the pictures sent with it: always for major work, seldom otherwise (D29). */
export function* claimRecords(practice: Practice, claim: Claim, random: Random): Generator<DemoRecord> {
  const { id, person, status, major, day } = claim;
  yield { type: 'InsuranceClaim', organizationId: practice.organizationId, id, patient: { id: person.id }, status };
  const pictures = major ? random.between(1, 2) : random.chance(0.03) ? 1 : 0;
  for (let count = 0; count < pictures; count++) {
    const { examName, attachmentType, format } = random.pick(PICTURES);
    const attachment = practice.nextId('ImageAttachmentV1');
    const attached = instantText(utcStart(day) + random.between(18 * 60, 23 * 60) * 60_000);
    yield {
      type: 'ImageAttachmentV1',
      organizationId: practice.organizationId,
      id: attachment,
      examId: attachment * 2,
      examImageId: attachment * 2 + 1,
      examName,
      examDate: dateText(day),
      examImageOutputFormat: format,
      examImageSizeInBytes: random.between(24_000, 900_000),
      attachmentType,
      attachedDate: attached,
      dateCreated: attached,
      neaNumber: `${random.between(100_000_000, 999_999_999)}`,
      insuranceClaim: { id },
      lastModified: attached,
    };
  }
}
