import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import { transactions } from '../../../catalog/resources/transactions.ts';
import { type Reach, seenBy } from '../../store/reach.ts';

/** The rows of the ledger within reach that a location, or ALL, means; `l` is the alias of the table. */
export function ledgerOf(reach: Reach, location: number | 'ALL'): Sql {
  const { org, locations } = reach;
  if (location !== 'ALL') return sql`l.org = ${org} AND l.location_id = ${location}`;
  if (locations === undefined) return sql`l.org = ${org}`;
  // A transaction without a location is where its patient is.
  const here = locations.length === 0 ? empty : sql`l.location_id IN (${join([...locations])}) OR `;
  return sql`l.org = ${org} AND (${here}l.location_id = 0
    AND EXISTS (SELECT 1 FROM transactions r WHERE r.org = l.org AND r.id = l.id${seenBy(reach, transactions.type)}))`;
}

/**
 * These rows with what is open of them, as a table to select from: a credit that is out of reach settles no charge, and
 * none is applied to a charge that is.
 */
export function openLedger(reach: Reach, location: number | 'ALL'): Sql {
  const own = ledgerOf(reach, location);
  if (reach.locations === undefined) return sql`ledger l WHERE ${own}`;
  const settledElsewhere = hiddenCents(reach, 'charge_id', 'credit_id', empty);
  const byInsurance = hiddenCents(reach, 'charge_id', 'credit_id', sql` AND d.by_insurance = 1`);
  // As in the ledger itself, only active charges count.
  const appliedElsewhere = hiddenCents(
    reach,
    'credit_id',
    'charge_id',
    sql` AND r.is_active = 1 AND r.amount_cents > 0`,
  );
  return sql`(SELECT l.org, l.location_id, l.guarantor_id, l.transaction_date, l.is_charge, l.write_off_cents,
      l.open_cents + CASE WHEN l.is_charge = 1 THEN ${settledElsewhere} ELSE -${appliedElsewhere} END AS open_cents,
      l.insurance_cents + CASE WHEN l.is_charge = 1 THEN ${byInsurance} ELSE 0 END AS insurance_cents
    FROM ledger l WHERE ${own}) AS l WHERE true`;
}

/** What is distributed between a row `l` and transactions that are out of reach: cents. */
function hiddenCents(reach: Reach, own: string, other: string, only: Sql): Sql {
  const seen = sql`(1 = 1${seenBy(reach, transactions.type)})`;
  return sql`COALESCE((SELECT SUM(d.cents) FROM distributions d
    JOIN transactions r ON r.org = d.org AND r.id = d.${raw(other)}
    WHERE d.org = l.org AND d.${raw(own)} = l.id AND ${seen} IS NOT TRUE${only}), 0)`;
}
