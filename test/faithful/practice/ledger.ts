import type { Owing } from '../store.ts';
import type { Maker } from './maker.ts';
import { LEDGER_TYPES } from './words.ts';

/** Adds transaction tags. */
export function makeTags(maker: Maker, count: number): void {
  for (let index = 0; index < count; index++) {
    maker.add('transactiontags', {
      tagText: `Tag ${index}`,
      isPredefined: maker.draws.chance(0.3),
      tagType: maker.listed(['PAYMENT_TAG', 'ADJUSTMENT_TAG'], 'REFUND_TAG'),
    });
  }
}

/** Adds transactions of patients. */
export function makeTransactions(maker: Maker, count: number): void {
  for (let index = 0; index < count; index++) makeTransaction(maker, index);
}

function makeTransaction(maker: Maker, index: number): void {
  const { draws } = maker;
  const entry = maker.past();
  maker.add('transactions', {
    type: 'Transaction',
    ledgerType: maker.listed(LEDGER_TYPES, 'GiftCardPayment'),
    amount: draws.whole(-50_000, 90_000) / 100,
    ownership: draws.one(['PATIENT', 'GUARANTOR']),
    transactionDate: entry.slice(0, 10),
    entryDate: entry,
    lastModified: maker.modified(),
    isAutomaticallyPosted: draws.chance(0.2),
    isActive: draws.chance(0.9),
    isPartialPayment: false,
    note: maker.maybe(`Note ${index}`),
    metBasic: maker.maybe(0),
    metPreventive: null,
    metMajor: null,
    metOrtho: null,
    previousTransaction: null,
    replacedByTransaction: null,
    patient: maker.linkTo('patients'),
    location: maker.location(),
    provider: maker.maybe(maker.provider()),
    organizationLedgerType: null,
    patientProcedure: null,
    insuranceClaim: null,
    insurancePayment: null,
    transactionTags: maker.maybe(tagged(maker)),
    reasonTags: null,
    patientPaymentBilling: null,
    distributions: [],
  });
}

function tagged(maker: Maker): Record<string, unknown> | null {
  const link = maker.linkTo('transactiontags');
  return link && { 0: link };
}

const PARTS = ['guarantorPortion', 'insurancePortion', 'writeOff'] as const;
const BUCKETS = ['current', 'thirtyDays', 'sixtyDays', 'ninetyDays'] as const;

/** What about a third of the patients owe at a location each. */
export function makeOwing(maker: Maker): Owing[] {
  const { patients } = maker.practice.shelves;
  return patients
    .all()
    .filter(() => maker.draws.chance(0.33))
    .map(({ id, record }) => ({
      location: maker.location().id,
      guarantor: id,
      transactions: maker.draws.whole(1, 12),
      report: owed(maker, id, record),
    }));
}

function owed(maker: Maker, id: number, patient: Readonly<Record<string, unknown>>) {
  const portions = BUCKETS.map(() => PARTS.map(() => (maker.draws.chance(0.4) ? 0 : maker.draws.whole(1, 40_000))));
  const credits = maker.draws.chance(0.5) ? 0 : -maker.draws.whole(1, 9000);
  const sum = (list: readonly number[]) => list.reduce((total, one) => total + one, 0);
  const ofPart = (part: number) => sum(portions.map((portion) => portion[part] ?? 0));
  const portionsByName = BUCKETS.map((name, bucket) => [
    `${name}Portion`,
    Object.fromEntries(PARTS.map((part, index) => [part, dollars(portions[bucket]?.[index] ?? 0)])),
  ]);
  return {
    id: String(id),
    firstName: patient.firstName,
    lastName: patient.lastName,
    ...Object.fromEntries(BUCKETS.map((name, bucket) => [name, dollars(sum(portions[bucket] ?? []))])),
    ...Object.fromEntries(portionsByName),
    balance: dollars(sum(portions.flat()) + credits),
    guarantorPortionBalance: dollars(ofPart(0) + credits),
    insurancePortionBalance: dollars(ofPart(1)),
    writeOffBalance: dollars(ofPart(2)),
    unAppliedCredits: dollars(credits),
    claimsPending: maker.draws.whole(0, 3),
  };
}

function dollars(cents: number): number {
  return Math.round(cents) / 100;
}
