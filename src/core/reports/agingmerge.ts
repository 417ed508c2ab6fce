import type { Row } from '../pages/page.ts';
import { type AgingMoney, added, inDollars, moneyOf, recordMoney } from './agingmoney.ts';

/** One guarantor at one location, whole: money in cents. */
export interface Guarantor {
  readonly id: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly money: AgingMoney;
  readonly claimsPending: number;
}

/**
 * Guarantors of all pages of one location, each once, ascending by id (D35): the money of one that stands on several
 * pages is added; `claimsPending` is a count at a point in time, so the largest stays. Throws NotMoney.
 */
export function mergeGuarantors(records: readonly Row[]): Guarantor[] {
  const byId = new Map<string, Row[]>();
  for (const record of records) {
    const id = String(record.id);
    const same = byId.get(id);
    if (same === undefined) byId.set(id, [record]);
    else same.push(record);
  }
  const collator = new Intl.Collator('en', { numeric: true });
  return [...byId].map(([id, same]) => merged(id, same)).sort((a, b) => collator.compare(a.id, b.id));
}

function merged(id: string, records: readonly Row[]): Guarantor {
  return {
    id,
    firstName: firstText(records, 'firstName'),
    lastName: firstText(records, 'lastName'),
    money: added(records.map(moneyOf)),
    claimsPending: Math.max(0, ...records.map(({ claimsPending }) => Number(claimsPending) || 0)),
  };
}

function firstText(records: readonly Row[], name: string): string | null {
  return records.map((record) => record[name]).find((value) => typeof value === 'string') ?? null;
}

/** Oldest money first: by what is over 90 days, then 60, then 30, then current; equal ones by id. */
export function oldestFirst(a: Guarantor, b: Guarantor): number {
  const [left, right] = [a.money.buckets, b.money.buckets];
  return (
    right.ninetyDays - left.ninetyDays ||
    right.sixtyDays - left.sixtyDays ||
    right.thirtyDays - left.thirtyDays ||
    right.current - left.current
  );
}

/** A guarantor as a record of the API, its location in front; dollars. */
export function guarantorRow(location: string, guarantor: Guarantor): Row {
  const { id, firstName, lastName, money, claimsPending } = guarantor;
  return {
    location: locationValue(location),
    id,
    firstName,
    lastName,
    ...inDollars(recordMoney(money)),
    claimsPending,
  };
}

/** A location as it stands in output: a number as every linked id (D1), or `ALL`. */
export function locationValue(location: string): number | string {
  return location === 'ALL' ? location : Number(location);
}
