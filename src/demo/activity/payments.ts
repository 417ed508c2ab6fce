import { weightedNames } from '../random.ts';
import { type TagText, tagged } from '../references.ts';
import { HALF_DAY } from '../schedule.ts';
import type { Appointment } from './appointments.ts';
import { type Application, type Due, type HouseholdLedger, sumOf } from './ledger.ts';

const METHODS = weightedNames({ 'Credit card': 56, Check: 18, Cash: 8, 'Online payment': 13, 'Care financing': 5 });

/** What happens to payments now and then. */
const INCIDENTS = weightedNames({ none: 945, overpaid: 20, refunded: 8, corrected: 17, voided: 10 });

const MISSED_FEE_CENTS = 5_000;
const ADJUSTED_AT_MINUTE = 10 * 60;
const UNCOLLECTIBLE_AFTER = 180;

/** Enters the household's payments: everything due on one day is one payment, applied to its charges. */
export function postPayments(ledger: HouseholdLedger): void {
  const days = new Map<number, Due[]>();
  for (const due of ledger.dues) {
    if (due.day <= ledger.lastDay) days.set(due.day, [...(days.get(due.day) ?? []), due]);
  }
  for (const [day, dues] of days) postPayment(ledger, day, dues);
}

function postPayment(ledger: HouseholdLedger, day: number, dues: readonly Due[]): void {
  const { random, household, lastDay } = ledger;
  const [head] = household.members;
  const { provider, person: first } = (dues[0] as Due).charge;
  const together = dues.some(({ charge }) => charge.person !== first);
  const person = together ? head : first;
  const applied: Application[] = dues.map(({ charge, cents }) => ({ charge, cents }));
  const total = sumOf(applied.map(({ cents }) => cents));
  const method = random.weighted(METHODS);
  const patientPaymentBilling = billingOf(ledger, method);
  const common = {
    person,
    provider,
    byGuarantor: person !== head || together,
    minute: household.home.location.hours.afternoon + HALF_DAY + 5,
  };
  const payment = {
    ...common,
    ledgerType: 'PatientProcedurePayment',
    partial: dues.some(({ partial }) => partial),
    fields: { transactionTags: tagged(method), patientPaymentBilling },
  } as const;
  /** A charge that gives card money back. */
  const giveBack = { ...common, fields: { patientPaymentBilling } };
  const later = day + random.between(1, 12);
  const incident = later <= lastDay ? random.weighted(INCIDENTS) : 'none';
  const byCard = method === 'Credit card';
  const extra = 100 * random.between(5, 120);
  if (incident === 'corrected') {
    const wrong = ledger.add({ ...payment, day, cents: -(total + extra), applied });
    ledger.correct(wrong, { ...payment, day: later, applied, note: 'Corrected amount' });
  } else if (incident === 'voided' && byCard) {
    const minute = common.minute + 1;
    const charge = ledger.add({ ...giveBack, ledgerType: 'PatientCreditCardVoid', day, minute, cents: total });
    ledger.add({ ...payment, day, applied: [{ charge, cents: total }], note: 'Voided' });
    ledger.add({ ...payment, day: later, applied });
  } else if (incident === 'refunded' && byCard) {
    const charge = ledger.add({ ...giveBack, ledgerType: 'PatientCreditCardRefund', day: later, cents: extra });
    ledger.add({ ...payment, day, applied: [...applied, { charge, cents: extra }] });
  } else {
    ledger.add({ ...payment, day, cents: -(incident === 'overpaid' ? total + extra : total), applied });
  }
}

function billingOf({ random }: HouseholdLedger, method: TagText): Record<string, string> | null {
  if (method === 'Cash') return null;
  if (method !== 'Check') return { referenceNumber: `R${random.between(100_000, 999_999)}` };
  return { checkNumber: String(random.between(101, 9_999)), bankNumber: `00${random.between(1, 9)}` };
}

/** Charges some of those who did not come. */
export function postMissedFee(ledger: HouseholdLedger, { person, visit, operatory }: Appointment): void {
  const day = visit.slot.day + 1;
  if (day > ledger.lastDay || !ledger.random.chance(0.2)) return;
  const charge = ledger.add({
    ledgerType: 'PatientChargeAdjustment',
    cents: MISSED_FEE_CENTS,
    ...{ person, provider: operatory.provider.id, day, minute: ADJUSTED_AT_MINUTE },
    note: 'Missed visit',
    fields: { transactionTags: tagged('Missed visit fee') },
  });
  ledger.owe(charge, MISSED_FEE_CENTS, ledger.statementDay(day, true));
}

/** Money paid ahead of a visit that is booked; nothing to apply it to yet. */
export function postDeposit(ledger: HouseholdLedger, { person, operatory }: Appointment): void {
  const { random, lastDay } = ledger;
  if (!random.chance(0.03)) return;
  ledger.add({
    ledgerType: 'PatientProcedurePayment',
    cents: -100 * random.between(25, 250),
    ...{ person, provider: operatory.provider.id, day: lastDay - random.below(20), minute: ADJUSTED_AT_MINUTE },
    note: 'Deposit',
    fields: { transactionTags: tagged('Credit card') },
  });
}

/** Moves what dependents owe onto the guarantor's own ledger, in some households that are billed. */
export function moveToGuarantor(ledger: HouseholdLedger): void {
  const { household, random, lastDay, dues } = ledger;
  const [head] = household.members;
  if (ledger.style === 'prompt' || !random.chance(0.08)) return;
  for (const [index, due] of dues.entries()) {
    const { charge, cents } = due;
    const { provider, person } = charge;
    const day = charge.day + 1;
    if (person === head || day > lastDay || due.day < day || random.chance(0.5)) continue;
    const fields = { reasonTags: tagged('Transfer to guarantor') };
    const common = { provider, day, minute: ADJUSTED_AT_MINUTE, fields };
    const applied = [{ charge, cents }];
    ledger.add({ ...common, ledgerType: 'PatientCreditAdjustment', person, applied });
    const moved = ledger.add({ ...common, ledgerType: 'PatientChargeAdjustment', cents, person: head });
    dues[index] = { ...due, charge: moved };
  }
}

/** Writes off, for half of the households that never pay, what is too old to be collected. */
export function writeOffOldDebt(ledger: HouseholdLedger): void {
  const { household, lastDay, dues } = ledger;
  if (ledger.style !== 'never' || ledger.random.chance(0.5)) return;
  const old = dues.filter(({ charge, day }) => day > lastDay && charge.day + UNCOLLECTIBLE_AFTER <= lastDay);
  if (old.length === 0) return;
  const last = old.reduce((latest, due) => (due.charge.day > latest.charge.day ? due : latest));
  ledger.add({
    ledgerType: 'PatientCreditAdjustment',
    person: household.members[0],
    provider: last.charge.provider,
    day: last.charge.day + UNCOLLECTIBLE_AFTER,
    minute: ADJUSTED_AT_MINUTE,
    note: 'Given up after several letters',
    applied: old.map(({ charge, cents }) => ({ charge, cents })),
    fields: { transactionTags: tagged('Uncollectible') },
  });
}
