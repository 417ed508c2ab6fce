import { isPlainObject } from '../../catalog/fields/kind.ts';
import type { Row } from '../pages/page.ts';
import { centsOf, dollarsOf } from './money.ts';

/** The age buckets, youngest first, by the names that records have. */
export const BUCKETS = ['current', 'thirtyDays', 'sixtyDays', 'ninetyDays'] as const;
export const PORTIONS = ['guarantorPortion', 'insurancePortion', 'writeOff'] as const;

type Bucket = (typeof BUCKETS)[number];
type Portion = (typeof PORTIONS)[number];

/** What a guarantor, a page or a location is owed, in whole cents. */
export interface AgingMoney {
  readonly buckets: Readonly<Record<Bucket, number>>;
  readonly portions: Readonly<Record<Bucket, Readonly<Record<Portion, number>>>>;
  /** 0 or negative. */
  readonly credits: number;
  readonly balance: number;
  readonly guarantorPortionBalance: number;
  readonly insurancePortionBalance: number;
  readonly writeOffBalance: number;
}

/** Names of a record that are no dollars, or too large to be exact; never an amount that was guessed. */
export class NotMoney extends Error {
  readonly field: string;

  constructor(field: string) {
    super(`${field} is not an amount in dollars`);
    this.name = 'NotMoney';
    this.field = field;
  }
}

/** Cents of one amount of a record; throws NotMoney. */
export function centsIn(record: Row, name: string): number {
  const cents = centsOf(record[name]);
  if (cents === undefined) throw new NotMoney(name);
  return cents;
}

/** The money of a record of `patientReports` (specification, Aging balance report). Throws NotMoney. */
export function moneyOf(record: Row): AgingMoney {
  return {
    buckets: each(BUCKETS, (bucket) => centsIn(record, bucket)),
    portions: each(BUCKETS, (bucket) => splitOf(record, `${bucket}Portion`)),
    credits: centsIn(record, 'unAppliedCredits'),
    balance: centsIn(record, 'balance'),
    guarantorPortionBalance: centsIn(record, 'guarantorPortionBalance'),
    insurancePortionBalance: centsIn(record, 'insurancePortionBalance'),
    writeOffBalance: centsIn(record, 'writeOffBalance'),
  };
}

function splitOf(record: Row, name: string): Record<Portion, number> {
  const split = record[name] ?? {};
  if (!isPlainObject(split)) throw new NotMoney(name);
  return each(PORTIONS, (portion) => {
    const cents = centsOf(split[portion]);
    if (cents === undefined) throw new NotMoney(`${name}.${portion}`);
    return cents;
  });
}

/** Sums, cent by cent. */
export function added(all: readonly AgingMoney[]): AgingMoney {
  const sum = (of: (money: AgingMoney) => number) => all.reduce((total, money) => total + of(money), 0);
  return {
    buckets: each(BUCKETS, (bucket) => sum((money) => money.buckets[bucket])),
    portions: each(BUCKETS, (bucket) => each(PORTIONS, (portion) => sum((money) => money.portions[bucket][portion]))),
    credits: sum((money) => money.credits),
    balance: sum((money) => money.balance),
    guarantorPortionBalance: sum((money) => money.guarantorPortionBalance),
    insurancePortionBalance: sum((money) => money.insurancePortionBalance),
    writeOffBalance: sum((money) => money.writeOffBalance),
  };
}

/** All buckets together. */
export function totalOf(money: AgingMoney): number {
  return BUCKETS.reduce((sum, bucket) => sum + money.buckets[bucket], 0);
}

/** The money of a guarantor under the names of the API, in cents. */
export function recordMoney(money: AgingMoney): Row {
  return {
    ...money.buckets,
    ...Object.fromEntries(BUCKETS.map((bucket) => [`${bucket}Portion`, money.portions[bucket]])),
    balance: money.balance,
    guarantorPortionBalance: money.guarantorPortionBalance,
    insurancePortionBalance: money.insurancePortionBalance,
    writeOffBalance: money.writeOffBalance,
    unAppliedCredits: money.credits,
  };
}

/** The money of a page or location under the names that the API gives its sums, in cents. */
export function sumsMoney(money: AgingMoney): Record<string, unknown> {
  const totalPortions = each(PORTIONS, (portion) =>
    BUCKETS.reduce((sum, bucket) => sum + money.portions[bucket][portion], 0),
  );
  return {
    ...Object.fromEntries(BUCKETS.map((bucket) => [`${bucket}Amount`, money.buckets[bucket]])),
    ...Object.fromEntries(BUCKETS.map((bucket) => [`${bucket}Portion`, money.portions[bucket]])),
    totalPortions,
    total: totalOf(money),
    unappliedCreditsAmount: money.credits,
    balance: money.balance,
  };
}

/** The same names with every amount turned from cents to dollars. */
export function inDollars(amounts: Row): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, value]) => [
      name,
      typeof value === 'number' ? dollarsOf(value) : inDollars(value as Row),
    ]),
  );
}

function each<K extends string, T>(names: readonly K[], value: (name: K) => T): Record<K, T> {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<K, T>;
}
