import { isPlainObject } from '../../catalog/fields/kind.ts';
import { readCount } from '../count.ts';
import type { Row } from '../pages/page.ts';
import { dollarsOf, isFraction, partsOf, shownCents } from './money.ts';

/** The age buckets, youngest first, by the names that records have. */
export const BUCKETS = ['current', 'thirtyDays', 'sixtyDays', 'ninetyDays'] as const;
export const PORTIONS = ['guarantorPortion', 'insurancePortion', 'writeOff'] as const;

type Bucket = (typeof BUCKETS)[number];
type Portion = (typeof PORTIONS)[number];

/** What a guarantor, a page or a location is owed, in parts of a cent (`PARTS_OF_CENT`). */
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

/** One amount of a record in parts of a cent; throws NotMoney. */
export function amountIn(record: Row, name: string): number {
  const parts = partsOf(record[name]);
  if (parts === undefined) throw new NotMoney(name);
  return parts;
}

/**
 * Amounts of one guarantor, in parts of a cent, in a form of few bytes, since there may be a million of them: the buckets, then the
 * portions bucket by bucket, then the balances, in the orders of `BUCKETS`, `PORTIONS` and `BALANCES`.
 */
export type AgingAmounts = readonly number[];

const BALANCES = [
  'unAppliedCredits',
  'balance',
  'guarantorPortionBalance',
  'insurancePortionBalance',
  'writeOffBalance',
] as const;

const PORTION_NAMES = BUCKETS.map((bucket) => `${bucket}Portion`);
const FIRST_PORTION = BUCKETS.length;
const FIRST_BALANCE = FIRST_PORTION + BUCKETS.length * PORTIONS.length;
const LENGTH = FIRST_BALANCE + BALANCES.length;

/** The money of a record of `patientReports` (specification, Aging balance report). Throws NotMoney. */
export function readAmounts(record: Row): AgingAmounts {
  // Of its full length from the start: an array that grows takes room for more.
  const amounts = new Array<number>(LENGTH).fill(0);
  let at = 0;
  for (const bucket of BUCKETS) amounts[at++] = amountIn(record, bucket);
  for (const name of PORTION_NAMES) {
    const split = record[name] ?? {};
    if (!isPlainObject(split)) throw new NotMoney(name);
    for (const portion of PORTIONS) amounts[at++] = portionIn(split, portion, name);
  }
  for (const name of BALANCES) amounts[at++] = amountIn(record, name);
  return amounts;
}

function portionIn(split: Row, portion: Portion, name: string): number {
  const parts = partsOf(split[portion]);
  if (parts === undefined) throw new NotMoney(`${name}.${portion}`);
  return parts;
}

/** Exact sums, amount by amount. */
export function added(all: Iterable<AgingAmounts>): AgingAmounts {
  const sums = new Array<number>(LENGTH).fill(0);
  for (const amounts of all) {
    for (let at = 0; at < LENGTH; at++) sums[at] = (sums[at] ?? 0) + (amounts[at] ?? 0);
  }
  return sums;
}

/** 1 where an amount has fractions of a cent, 0 where it has none. */
export function fractionsOf(amounts: AgingAmounts): AgingAmounts {
  return amounts.map((parts) => Number(isFraction(parts)));
}

/** Amounts by their names. */
export function moneyOf(amounts: AgingAmounts): AgingMoney {
  const at = (place: number) => amounts[place] ?? 0;
  const balance = (name: (typeof BALANCES)[number]) => at(FIRST_BALANCE + BALANCES.indexOf(name));
  return {
    buckets: each(BUCKETS, (_, bucket) => at(bucket)),
    portions: each(BUCKETS, (_, bucket) =>
      each(PORTIONS, (_, portion) => at(FIRST_PORTION + bucket * PORTIONS.length + portion)),
    ),
    credits: balance('unAppliedCredits'),
    balance: balance('balance'),
    guarantorPortionBalance: balance('guarantorPortionBalance'),
    insurancePortionBalance: balance('insurancePortionBalance'),
    writeOffBalance: balance('writeOffBalance'),
  };
}

/** Buckets and credits less the balance: 0 where they agree. */
export function imbalanceOf(amounts: AgingAmounts): number {
  let sum = (amounts[FIRST_BALANCE] ?? 0) - (amounts[FIRST_BALANCE + 1] ?? 0);
  for (let bucket = 0; bucket < BUCKETS.length; bucket++) sum += amounts[bucket] ?? 0;
  return sum;
}

/** What is owed in a bucket, by its place in `BUCKETS`. */
export function bucketOf(amounts: AgingAmounts, bucket: number): number {
  return amounts[bucket] ?? 0;
}

/** All buckets together. */
export function totalOf(money: AgingMoney): number {
  return BUCKETS.reduce((sum, bucket) => sum + money.buckets[bucket], 0);
}

/** The money of a guarantor under the names of the API, in dollars rounded to cents, set into a record. */
export function setDollars(record: Record<string, unknown>, amounts: AgingAmounts): void {
  const dollars = (place: number) => dollarsOf(shownCents(amounts[place] ?? 0));
  for (const [bucket, name] of BUCKETS.entries()) record[name] = dollars(bucket);
  for (const [bucket, name] of PORTION_NAMES.entries()) {
    const first = FIRST_PORTION + bucket * PORTIONS.length;
    record[name] = {
      guarantorPortion: dollars(first),
      insurancePortion: dollars(first + 1),
      writeOff: dollars(first + 2),
    };
  }
  record.balance = dollars(FIRST_BALANCE + 1);
  record.guarantorPortionBalance = dollars(FIRST_BALANCE + 2);
  record.insurancePortionBalance = dollars(FIRST_BALANCE + 3);
  record.writeOffBalance = dollars(FIRST_BALANCE + 4);
  record.unAppliedCredits = dollars(FIRST_BALANCE);
}

/** The money of a page or location under the names that the API gives its sums, in parts of a cent. */
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

/** The same names with every amount in dollars, rounded to cents. */
export function inDollars(amounts: Row): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, value]) => [
      name,
      typeof value === 'number' ? dollarsOf(shownCents(value)) : inDollars(value as Row),
    ]),
  );
}

function each<K extends string, T>(names: readonly K[], value: (name: K, at: number) => T): Record<K, T> {
  return Object.fromEntries(names.map((name, at) => [name, value(name, at)])) as Record<K, T>;
}

/** One guarantor at one location. */
export interface Guarantor {
  readonly id: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly amounts: AgingAmounts;
  readonly claimsPending: number;
}

/** A record of `patientReports`. Throws NotMoney. */
export function readGuarantor(record: Row): Guarantor {
  return {
    id: String(record.id),
    firstName: textIn(record, 'firstName'),
    lastName: textIn(record, 'lastName'),
    amounts: readAmounts(record),
    claimsPending: readCount(record.claimsPending) ?? 0,
  };
}

function textIn(record: Row, name: string): string | null {
  const value = record[name];
  return typeof value === 'string' ? value : null;
}

/**
 * Guarantors of all pages of one location, each once (D35): the money of one that stands on several pages is added;
 * `claimsPending` is a count at a point in time, so the largest stays.
 */
export class Guarantors {
  private readonly byId = new Map<string, Guarantor>();

  add(guarantor: Guarantor): void {
    const same = this.byId.get(guarantor.id);
    this.byId.set(guarantor.id, same === undefined ? guarantor : merged(same, guarantor));
  }

  /** Ascending by id. */
  sorted(): Guarantor[] {
    const collator = new Intl.Collator('en', { numeric: true });
    return [...this.byId.values()].sort((a, b) => collator.compare(a.id, b.id));
  }
}

function merged(before: Guarantor, after: Guarantor): Guarantor {
  return {
    id: before.id,
    firstName: before.firstName ?? after.firstName,
    lastName: before.lastName ?? after.lastName,
    amounts: added([before.amounts, after.amounts]),
    claimsPending: Math.max(before.claimsPending, after.claimsPending),
  };
}

/** Oldest money first: by what is over 90 days, then 60, then 30, then current; equal ones by id. */
export function oldestFirst(a: Guarantor, b: Guarantor): number {
  for (let bucket = BUCKETS.length - 1; bucket >= 0; bucket--) {
    const more = bucketOf(b.amounts, bucket) - bucketOf(a.amounts, bucket);
    if (more !== 0) return more;
  }
  return 0;
}

/** A guarantor as a record of the API, its location in front; dollars. */
export function guarantorRow(location: string, { id, firstName, lastName, amounts, claimsPending }: Guarantor): Row {
  const row: Record<string, unknown> = { location: locationValue(location), id, firstName, lastName };
  setDollars(row, amounts);
  row.claimsPending = claimsPending;
  return row;
}

/** A location as it stands in output: a number as every linked id (D1), or `ALL`. */
export function locationValue(location: string): number | string {
  return location === 'ALL' ? location : Number(location);
}
