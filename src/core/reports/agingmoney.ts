import { isPlainObject } from '../../catalog/fields/kind.ts';
import { readCount } from '../count.ts';
import type { Row } from '../pages/page.ts';
import { dollarsOf, isFraction, partsOf, shownCents } from './money.ts';

/** The age buckets, youngest first, by the names that records have. */
export const BUCKETS = ['current', 'thirtyDays', 'sixtyDays', 'ninetyDays'] as const;

const PORTIONS = ['guarantorPortion', 'insurancePortion', 'writeOff'] as const;

type Bucket = (typeof BUCKETS)[number];
type Portion = (typeof PORTIONS)[number];

/** What a guarantor, a page or a location owes, in parts of a cent (`PARTS_OF_CENT`). */
export interface AgingMoney {
  readonly buckets: Readonly<Record<Bucket, number>>;
  readonly portions: Readonly<Record<Bucket, Readonly<Record<Portion, number>>>>;
  /** 0 or negative. */
  readonly credits: number;
  readonly balance: number;
}

/** A field of a record that is no amount in dollars, or too large to be exact; amounts are never guessed. */
export class NotMoney extends Error {
  constructor(field: string) {
    super(`${field} is not an amount in dollars`);
    this.name = 'NotMoney';
  }
}

/** One amount of a record in parts of a cent; throws NotMoney for `field`, its name when not given. */
export function amountIn(record: Row, name: string, field = name): number {
  const parts = partsOf(record[name]);
  if (parts === undefined) throw new NotMoney(field);
  return parts;
}

/**
 * Amounts of one guarantor in parts of a cent, compact since there may be a million of them: the buckets, then the
 * portions bucket by bucket, then the balances, in the orders of `BUCKETS`, `PORTIONS` and `BALANCES`.
 */
export type AgingAmounts = readonly number[];

const BALANCES = [
  'balance',
  'guarantorPortionBalance',
  'insurancePortionBalance',
  'writeOffBalance',
  'unAppliedCredits',
] as const;

const PORTION_NAMES = BUCKETS.map((bucket) => `${bucket}Portion`);
const FIRST_PORTION = BUCKETS.length;
const BALANCE = FIRST_PORTION + BUCKETS.length * PORTIONS.length;
const CREDITS = BALANCE + BALANCES.indexOf('unAppliedCredits');
const LENGTH = BALANCE + BALANCES.length;

/** The money of a record of `patientReports` (specification, Aging balance report). Throws NotMoney. */
export function readAmounts(record: Row): AgingAmounts {
  // Allocated at its full length: an array that grows takes more memory.
  const amounts = new Array<number>(LENGTH).fill(0);
  let at = 0;
  for (const bucket of BUCKETS) amounts[at++] = amountIn(record, bucket);
  for (const name of PORTION_NAMES) {
    const split = record[name] ?? {};
    if (!isPlainObject(split)) throw new NotMoney(name);
    for (const portion of PORTIONS) amounts[at++] = amountIn(split, portion, `${name}.${portion}`);
  }
  for (const name of BALANCES) amounts[at++] = amountIn(record, name);
  return amounts;
}

/** Exact sums, amount by amount. */
export function added(all: Iterable<AgingAmounts>): AgingAmounts {
  const sums = new Array<number>(LENGTH).fill(0);
  for (const amounts of all) {
    for (let at = 0; at < LENGTH; at++) sums[at] = (sums[at] ?? 0) + (amounts[at] ?? 0);
  }
  return sums;
}

/** The sums over guarantors, of whom there may be a million: no list of their amounts is made. */
export function addedUp(guarantors: Iterable<Guarantor>): AgingAmounts {
  return added(amountsOf(guarantors));
}

function* amountsOf(guarantors: Iterable<Guarantor>): Generator<AgingAmounts> {
  for (const { amounts } of guarantors) yield amounts;
}

/** 1 where an amount has fractions of a cent, 0 where it has none. */
export function fractionsOf(amounts: AgingAmounts): AgingAmounts {
  return amounts.map((parts) => Number(isFraction(parts)));
}

/** Amounts by their names. */
export function moneyOf(amounts: AgingAmounts): AgingMoney {
  const at = (index: number) => amounts[index] ?? 0;
  return {
    buckets: each(BUCKETS, (_, bucket) => at(bucket)),
    portions: each(BUCKETS, (_, bucket) =>
      each(PORTIONS, (_, portion) => at(FIRST_PORTION + bucket * PORTIONS.length + portion)),
    ),
    credits: at(CREDITS),
    balance: at(BALANCE),
  };
}

/** Buckets and credits less the balance: 0 where they agree. */
export function imbalanceOf(amounts: AgingAmounts): number {
  let sum = (amounts[CREDITS] ?? 0) - (amounts[BALANCE] ?? 0);
  for (let bucket = 0; bucket < BUCKETS.length; bucket++) sum += amounts[bucket] ?? 0;
  return sum;
}

/** All buckets together. */
export function totalOf({ buckets }: AgingMoney): number {
  return BUCKETS.reduce((sum, bucket) => sum + buckets[bucket], 0);
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
  const textOf = (value: unknown) => (typeof value === 'string' ? value : null);
  return {
    id: String(record.id),
    firstName: textOf(record.firstName),
    lastName: textOf(record.lastName),
    amounts: readAmounts(record),
    claimsPending: readCount(record.claimsPending) ?? 0,
  };
}

/**
 * Guarantors of all pages of one location, each once (D35): the money of one that is on several pages is added;
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

/** Oldest money first: by what is over 90 days, then 60, then 30, then current; 0 for equal ones. */
export function oldestFirst(a: Guarantor, b: Guarantor): number {
  for (let bucket = BUCKETS.length - 1; bucket >= 0; bucket--) {
    const more = (b.amounts[bucket] ?? 0) - (a.amounts[bucket] ?? 0);
    if (more !== 0) return more;
  }
  return 0;
}

/** A guarantor as a record of the API after its location; amounts in dollars rounded to cents. */
export function guarantorRow(location: string, { id, firstName, lastName, amounts, claimsPending }: Guarantor): Row {
  const row: Record<string, unknown> = { location: locationValue(location), id, firstName, lastName };
  let at = 0;
  const next = () => dollarsOf(shownCents(amounts[at++] ?? 0));
  for (const bucket of BUCKETS) row[bucket] = next();
  for (const name of PORTION_NAMES) {
    row[name] = { guarantorPortion: next(), insurancePortion: next(), writeOff: next() };
  }
  for (const name of BALANCES) row[name] = next();
  row.claimsPending = claimsPending;
  return row;
}

/** A location as it is in output: a number as every linked id (D1), or `ALL`. */
export function locationValue(location: string): number | string {
  return location === 'ALL' ? location : Number(location);
}
