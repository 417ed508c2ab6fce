import sql, { join } from 'sql-template-tag';
import type { Reader } from '../../store/store.ts';
import { type GuarantorRange, ledgerOf } from './pages.ts';

/** An active transaction of which something is open, in cents. */
export interface OpenItem {
  readonly guarantor_id: number;
  /** 0 for a transaction without a location. */
  readonly location_id: number;
  readonly transaction_date: string;
  readonly is_charge: number;
  /** Outstanding of a charge; undistributed part of a credit, negative. */
  readonly open_cents: number;
  /** Estimated insurance less what insurance payments settled; may be below 0. */
  readonly insurance_cents: number;
  readonly write_off_cents: number;
}

/** Everything open of guarantors, by range or by id, in the order of their ids. Costs grow with what is asked for. */
export async function openItems(
  read: Reader,
  org: number,
  location: number | 'ALL',
  guarantors: GuarantorRange | readonly number[],
): Promise<OpenItem[]> {
  if (!('first' in guarantors) && guarantors.length === 0) return [];
  const chosen =
    'first' in guarantors
      ? sql`l.guarantor_id >= ${guarantors.first} AND l.guarantor_id <= ${guarantors.last}`
      : sql`l.guarantor_id IN (${join([...guarantors])})`;
  return read.all<OpenItem>(sql`
    SELECT l.guarantor_id, l.location_id, l.transaction_date, l.is_charge, l.open_cents, l.insurance_cents, l.write_off_cents
    FROM ledger l WHERE ${ledgerOf(org, location)} AND ${chosen} AND l.open_cents <> 0
    ORDER BY l.guarantor_id`);
}
