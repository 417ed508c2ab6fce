import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { Reach } from '../../store/reach.ts';
import type { Reader } from '../../store/store.ts';
import { dateAt } from '../../zones.ts';
import { addDays } from '../days.ts';
import type { GuarantorRange } from './pages.ts';
import { openLedger } from './within.ts';

/** What is open of one guarantor's charges of one age, or of their credits; cents. */
export interface OpenSum {
  readonly guarantor_id: number;
  /** Number of the age bucket; `CREDITS` for credits. */
  readonly bucket: number;
  /** Outstanding of charges; undistributed part of credits, negative. */
  readonly open_cents: number;
  /** The parts of outstanding charges that insurance is estimated to pay and that will be written off (D34). */
  readonly insurance_cents: number;
  readonly write_off_cents: number;
}

/** In place of the number of a bucket. */
export const CREDITS = -1;

/**
 * Everything open of guarantors, by range or by id, in the order of their ids, added up by the store: at most a row a
 * bucket comes out, however many charges there are. Costs grow with what is requested.
 */
export async function openSums(
  read: Reader,
  reach: Reach,
  location: number | 'ALL',
  guarantors: GuarantorRange | readonly number[],
  days: readonly SameDay[],
): Promise<OpenSum[]> {
  if (!('first' in guarantors) && guarantors.length === 0) return [];
  const chosen =
    'first' in guarantors
      ? sql`l.guarantor_id >= ${guarantors.first} AND l.guarantor_id <= ${guarantors.last}`
      : sql`l.guarantor_id IN (${join([...guarantors])})`;
  // Of each charge, the write-off comes first, then insurance, and what is left is the guarantor's.
  return read.all<OpenSum>(sql`
    SELECT o.guarantor_id, o.bucket, SUM(o.open_cents) AS open_cents, SUM(o.write_off) AS write_off_cents,
      SUM(CASE WHEN o.insurance_cents <= 0 THEN 0
        WHEN o.insurance_cents < o.open_cents - o.write_off THEN o.insurance_cents
        ELSE o.open_cents - o.write_off END) AS insurance_cents
    FROM (
      SELECT l.guarantor_id, l.open_cents, l.insurance_cents,
        CASE WHEN l.write_off_cents < l.open_cents THEN l.write_off_cents ELSE l.open_cents END AS write_off,
        CASE WHEN l.is_charge = 0 THEN ${raw(String(CREDITS))} ELSE ${bucketOf(days)} END AS bucket
      FROM ${openLedger(reach, location)} AND ${chosen} AND l.open_cents <> 0
    ) AS o
    GROUP BY o.guarantor_id, o.bucket ORDER BY o.guarantor_id`);
}

/** Age buckets, the youngest first, by their names on the wire, and how many days old a charge in them may be. */
export const BUCKETS = ['current', 'thirtyDays', 'sixtyDays', 'ninetyDays'] as const;
const OLDEST = [30, 60, 90] as const;

/** Locations where it is the same day; `locations` is undefined for all that no other group names. */
interface SameDay {
  readonly today: string;
  readonly locations: readonly number[] | undefined;
}

/**
 * Groups places by the calendar date that it is there at an instant: one group but for the hours in which midnight
 * passes between their zones. `otherwise` is the zone of places that are not named.
 */
export function sameDays(zones: ReadonlyMap<number, string>, otherwise: string, now: number): readonly SameDay[] {
  const usual = dateAt(now, otherwise);
  const others = new Map<string, number[]>();
  for (const [location, zone] of zones) {
    const today = zone === otherwise ? usual : dateAt(now, zone);
    if (today !== usual) others.set(today, [...(others.get(today) ?? []), location]);
  }
  return [{ today: usual, locations: undefined }, ...[...others].map(([today, locations]) => ({ today, locations }))];
}

/**
 * The number of the bucket that a charge of the ledger `l` is in (D34). Ages are whole calendar days where its
 * location is, and a future date is current.
 */
export function bucketOf(days: readonly SameDay[]): Sql {
  const firsts = OLDEST.map(
    (age, bucket) => sql`WHEN l.transaction_date >= ${firstDay(days, age)} THEN ${raw(String(bucket))}`,
  );
  return sql`CASE ${join(firsts, ' ')} ELSE ${raw(String(OLDEST.length))} END`;
}

/** The earliest date that is at most so many days ago. */
function firstDay(days: readonly SameDay[], age: number): Sql {
  const dated = ({ today }: SameDay) => sql`${addDays(today, -age)}`;
  const [usual, ...others] = days as [SameDay, ...SameDay[]];
  if (others.length === 0) return dated(usual);
  const cases = others.map(
    (day) => sql`WHEN l.location_id IN (${join([...(day.locations ?? [])])}) THEN ${dated(day)}`,
  );
  return sql`CASE ${join(cases, ' ')} ELSE ${dated(usual)} END`;
}
