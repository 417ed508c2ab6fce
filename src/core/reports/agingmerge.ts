import { readCount } from '../count.ts';
import type { Row } from '../pages/page.ts';
import { type AgingAmounts, added, BUCKETS, bucketOf, readAmounts, setDollars } from './agingmoney.ts';

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
