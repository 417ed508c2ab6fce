import { weights } from '../random.ts';
import { HALF_DAY } from '../schedule.ts';
import { sumOf } from './claims.ts';
import type { Application, Due, Entry } from './entries.ts';
import type { Posting } from './posting.ts';
import { type TagText, tagged } from './tags.ts';

const METHODS = weights<TagText>([
  ['Credit card', 56],
  ['Check', 18],
  ['Cash', 8],
  ['Online payment', 13],
  ['Care financing', 5],
]);

type Turn = 'plain' | 'ahead' | 'refunded' | 'corrected' | 'voided';

/** What happens to payments now and then. */
const TURNS = weights<Turn>([
  ['plain', 945],
  ['ahead', 20],
  ['refunded', 8],
  ['corrected', 17],
  ['voided', 10],
]);

/** Enters the household's payments: everything due on one day is one payment, applied to its charges. */
export function postPayments(posting: Posting): void {
  const days = new Map<number, Due[]>();
  for (const due of posting.dues) {
    if (due.day > posting.lastDay) continue;
    const same = days.get(due.day);
    if (same === undefined) days.set(due.day, [due]);
    else same.push(due);
  }
  for (const [day, dues] of days) postPayment(posting, day, dues);
}

function postPayment(posting: Posting, day: number, dues: readonly Due[]): void {
  const { ledger, random, household, lastDay } = posting;
  const { hours } = household.home.location;
  const first = (dues[0] as Due).charge;
  const together = dues.some(({ charge }) => charge.person !== first.person);
  const person = together ? household.members[0] : first.person;
  const applied = dues.map(({ charge, cents }) => ({ charge, cents }));
  const total = sumOf(applied.map(({ cents }) => cents));
  const method = random.weighted(METHODS);
  const base = {
    ledgerType: 'PatientProcedurePayment',
    person,
    provider: first.provider,
    byGuarantor: person !== household.members[0] || together,
    partial: dues.some(({ partial }) => partial),
    minute: hours.afternoon + HALF_DAY + 5,
    fields: { transactionTags: tagged(method), patientPaymentBilling: billingOf(posting, method) },
  } as const;
  const later = day + random.between(1, 12);
  const turn = later <= lastDay ? random.weighted(TURNS) : 'plain';
  const extra = 100 * random.between(5, 120);
  if (turn === 'corrected') {
    const wrong = ledger.add({ ...base, day, cents: -(total + extra), applied });
    ledger.correct(wrong, ledger.add({ ...base, day: later, cents: -total, applied, note: 'Corrected amount' }));
  } else if (turn === 'voided' && method === 'Credit card') {
    const reversal = ledger.add({
      ...reverse(base, 'PatientCreditCardVoid'),
      day,
      minute: base.minute + 1,
      cents: total,
    });
    ledger.add({ ...base, day, cents: -total, applied: [{ charge: reversal, cents: total }], note: 'Voided' });
    ledger.add({ ...base, day: later, cents: -total, applied });
  } else if (turn === 'refunded' && method === 'Credit card') {
    const refund = ledger.add({ ...reverse(base, 'PatientCreditCardRefund'), day: later, cents: extra });
    const parts: Application[] = [...applied, { charge: refund, cents: extra }];
    ledger.add({ ...base, day, cents: -(total + extra), applied: parts });
  } else {
    ledger.add({ ...base, day, cents: -(turn === 'ahead' ? total + extra : total), applied });
  }
}

/** A charge that gives card money back. */
function reverse(
  {
    person,
    provider,
    minute,
    byGuarantor,
    fields,
  }: Pick<Entry, 'person' | 'provider' | 'minute' | 'byGuarantor' | 'fields'>,
  ledgerType: 'PatientCreditCardVoid' | 'PatientCreditCardRefund',
) {
  const { patientPaymentBilling } = fields ?? {};
  return {
    ledgerType,
    person,
    provider,
    minute,
    ...(byGuarantor !== undefined && { byGuarantor }),
    fields: { patientPaymentBilling },
  };
}

function billingOf({ random }: Posting, method: TagText): Record<string, string> | null {
  if (method === 'Check')
    return { checkNumber: String(random.between(101, 9_999)), bankNumber: `00${random.between(1, 9)}` };
  if (method === 'Cash') return null;
  return { referenceNumber: `R${random.between(100_000, 999_999)}` };
}
