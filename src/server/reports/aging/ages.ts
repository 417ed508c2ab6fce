import sql, { join, raw, type Sql } from 'sql-template-tag';
import { dateAt } from '../../zones.ts';
import { addDays } from '../days.ts';

/** Age buckets, the youngest first, by their names on the wire, and how many days old a charge in them may be. */
export const BUCKETS = ['current', 'thirtyDays', 'sixtyDays', 'ninetyDays'] as const;
const OLDEST = [30, 60, 90] as const;

/** Locations where it is the same day; `locations` is undefined for all that no other group names. */
export interface SameDay {
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
