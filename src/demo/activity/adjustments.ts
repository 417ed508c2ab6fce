import { addDue } from './charges.ts';
import { sumOf } from './claims.ts';
import type { Due } from './entries.ts';
import { type Posting, payDay } from './posting.ts';
import { tagged } from './tags.ts';
import type { Work } from './works.ts';

const FEE_CENTS = 5_000;
const MINUTE = 10 * 60;
const UNCOLLECTIBLE_AFTER = 180;

/** Charges some of those who did not come. */
export function postMissedFee(posting: Posting, { person, visit, operatory }: Work): void {
  const day = visit.slot.day + 1;
  if (day > posting.lastDay || !posting.random.chance(0.2)) return;
  const charge = posting.ledger.add({
    ledgerType: 'PatientChargeAdjustment',
    cents: FEE_CENTS,
    person,
    provider: operatory.provider.id,
    day,
    minute: MINUTE,
    note: 'Missed visit',
    fields: { transactionTags: tagged('Missed visit fee') },
  });
  addDue(posting, charge, FEE_CENTS, payDay(posting.style === 'prompt' ? 'billed' : posting.style, day, true));
}

/** Moves what dependents owe onto the guarantor's own ledger, in some households that are billed. */
export function moveToGuarantor(posting: Posting): void {
  const { household, ledger, random, lastDay, dues } = posting;
  const [head] = household.members;
  if (posting.style === 'prompt' || !random.chance(0.08)) return;
  for (const [index, due] of dues.entries()) {
    const { charge, cents } = due;
    const day = charge.day + 1;
    if (charge.person === head || day > lastDay || due.day < day || random.chance(0.5)) continue;
    const common = {
      provider: charge.provider,
      day,
      minute: MINUTE,
      fields: { reasonTags: tagged('Transfer to guarantor') },
    };
    ledger.add({
      ...common,
      ledgerType: 'PatientCreditAdjustment',
      cents: -cents,
      person: charge.person,
      applied: [{ charge, cents }],
    });
    const moved = ledger.add({ ...common, ledgerType: 'PatientChargeAdjustment', cents, person: head });
    dues[index] = { ...due, charge: moved };
  }
}

/** Writes off, for half of the households that never pay, what is old enough to be given up. */
export function writeOffOldDebt(posting: Posting): void {
  const { ledger, lastDay, random, dues } = posting;
  if (posting.style !== 'never' || random.chance(0.5)) return;
  const old = dues.filter(({ charge, day }) => day > lastDay && charge.day + UNCOLLECTIBLE_AFTER <= lastDay);
  if (old.length === 0) return;
  const last = old.reduce((latest: Due, due) => (due.charge.day > latest.charge.day ? due : latest));
  ledger.add({
    ledgerType: 'PatientCreditAdjustment',
    cents: -sumOf(old.map(({ cents }) => cents)),
    person: posting.household.members[0],
    provider: last.charge.provider,
    day: last.charge.day + UNCOLLECTIBLE_AFTER,
    minute: MINUTE,
    note: 'Given up after several letters',
    applied: old.map(({ charge, cents }) => ({ charge, cents })),
    fields: { transactionTags: tagged('Uncollectible') },
  });
}

/** Money paid ahead of a visit that is booked; nothing to apply it to yet. */
export function postDeposit(posting: Posting, { person, operatory }: Work): void {
  const { ledger, random, lastDay } = posting;
  if (!random.chance(0.03)) return;
  ledger.add({
    ledgerType: 'PatientProcedurePayment',
    cents: -100 * random.between(25, 250),
    person,
    provider: operatory.provider.id,
    day: lastDay - random.below(20),
    minute: MINUTE,
    note: 'Deposit',
    fields: { transactionTags: tagged('Credit card') },
  });
}
