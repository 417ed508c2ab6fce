import sql, { join, raw } from 'sql-template-tag';
import type { Reader } from '../../store/store.ts';
import { bucketOf, type SameDay } from './ages.ts';
import { type GuarantorRange, ledgerOf } from './pages.ts';

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
 * bucket comes out, however many charges there are. Costs grow with what is asked for.
 */
export async function openSums(
  read: Reader,
  org: number,
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
      FROM ledger l WHERE ${ledgerOf(org, location)} AND ${chosen} AND l.open_cents <> 0
    ) AS o
    GROUP BY o.guarantor_id, o.bucket ORDER BY o.guarantor_id`);
}
