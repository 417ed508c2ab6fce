import sql, { join, type Sql } from 'sql-template-tag';
import type { Link } from '../../../catalog/fields/composites.ts';
import { cents } from '../../money.ts';
import type { Organization } from '../../organizations.ts';
import type { Draft } from '../../resources/behaviour.ts';
import { statement } from '../../store/statement.ts';
import type { Transaction } from '../../store/store.ts';
import { changeBlocks, fillBlocks } from './blocks.ts';

/** A part of a credit that settles a charge, as it stands on the wire (D24). */
interface Distribution {
  readonly chargeId?: number | null;
  readonly appliedAmount?: number | null;
  readonly isActive: boolean | null;
}

/** Keeps the distributions of a stored transaction, and notes what `settleLedger` has to make again. */
export async function noteTransaction(tx: Transaction, { organization, after, fresh }: Draft): Promise<void> {
  const { org } = organization;
  // A ledger that an import begins it makes as a whole, when its lines are in (`fillLedger`).
  if (fresh !== true) await forgetTransaction(tx, org, after.id);
  // Only an active credit settles anything; inactive distributions do not count (D34).
  const settles = after.isActive === true && (after.amount as number) < 0;
  const byInsurance = Number(after.ledgerType === 'InsurancePayment');
  for (const { chargeId, appliedAmount, isActive } of settles ? (after.distributions as readonly Distribution[]) : []) {
    if (isActive !== true || chargeId == null || appliedAmount == null) continue;
    await tx.run(statement`INSERT INTO distributions (org, charge_id, credit_id, cents, by_insurance)
      VALUES (${org}, ${chargeId}, ${after.id}, ${cents(appliedAmount)}, ${byInsurance})
      ON CONFLICT (org, charge_id, credit_id) DO UPDATE SET cents = distributions.cents + excluded.cents`);
  }
}

/** Takes a transaction's distributions out, and notes it and the charges that it settled. */
export async function forgetTransaction(tx: Transaction, org: number, id: number): Promise<void> {
  await tx.run(sql`INSERT INTO ledger_changes (org, id)
    SELECT d.org, d.charge_id FROM distributions d WHERE d.org = ${org} AND d.credit_id = ${id}
    UNION ALL SELECT CAST(${org} AS BIGINT), CAST(${id} AS BIGINT)
    ON CONFLICT DO NOTHING`);
  await tx.run(sql`DELETE FROM distributions WHERE org = ${org} AND credit_id = ${id}`);
}

/** Makes the whole ledger of an organization, whatever is noted of it: what `settleLedger` would make of each transaction. */
export async function fillLedger(tx: Transaction, org: number): Promise<void> {
  await tx.run(sql`DELETE FROM ledger_changes WHERE org = ${org}`);
  await tx.run(sql`DELETE FROM ledger WHERE org = ${org}`);
  // By id: the rows lie in that order, and SQLite would take any of the indexes that begin with the organization.
  await insertRows(tx, sql`transactions t`, sql`t.org = ${org} AND t.id > 0`);
  await tx.run(sql`INSERT INTO ledger_versions (org, version, counted) VALUES (${org}, 1, 0)
    ON CONFLICT (org) DO UPDATE SET version = ledger_versions.version + 1`);
  await fillBlocks(tx, org);
}

/** Moves the ledger of a stored patient to their guarantor, at once unless it is part of an import. */
export async function followGuarantor(
  tx: Transaction,
  { organization, before, after, imported }: Draft,
): Promise<void> {
  // A patient that the server makes has no ledger yet; of one that is imported it does not know.
  if (before === undefined && imported === undefined) return;
  // While an import fills an empty store there is no ledger yet, and no index by which to find transactions.
  if (!(await hasLedger(tx, organization, imported !== undefined))) return;
  const guarantor = (after.primaryGuarantor as Link).id;
  const noted = await tx.run(sql`INSERT INTO ledger_changes (org, id)
    SELECT l.org, l.id FROM transactions t JOIN ledger l ON l.org = t.org AND l.id = t.id
    WHERE t.org = ${organization.org} AND t.patient_id = ${after.id} AND l.guarantor_id <> ${guarantor}
    ON CONFLICT DO NOTHING`);
  // An import settles the ledger once, when all its lines are in.
  if (noted > 0 && imported === undefined) await settleLedger(tx);
}

/** What an import found when it first came to the organization: it settles the ledger only in the end. */
const found = new WeakMap<Organization, boolean>();

async function hasLedger(tx: Transaction, organization: Organization, imported: boolean): Promise<boolean> {
  const before = imported ? found.get(organization) : undefined;
  if (before !== undefined) return before;
  const row = await tx.get(sql`SELECT 1 AS found FROM ledger WHERE org = ${organization.org} LIMIT 1`);
  if (imported) found.set(organization, row !== undefined);
  return row !== undefined;
}

/**
 * Makes the noted rows of the ledger again: active transactions under their guarantor, with what is open of each. Of
 * a charge that is its outstanding, and how much insurance is still estimated to pay of it; of a credit its
 * undistributed part, negative (D34). Costs grow with what has changed, not with the ledger.
 */
export async function settleLedger(tx: Transaction): Promise<void> {
  const noted = await notedChanges(tx);
  if (noted === undefined) return;
  // A credit changes what is open of the charges it settles, and a charge what is left of the credits applied to it.
  // CROSS JOIN, here and below, keeps SQLite from walking a whole table: what has changed leads.
  await tx.run(sql`INSERT INTO ledger_changes (org, id)
    SELECT d.org, d.charge_id FROM ${noted} AS n CROSS JOIN distributions d WHERE d.org = n.org AND d.credit_id = n.id
    UNION ALL
    SELECT d.org, d.credit_id FROM ${noted} AS n CROSS JOIN distributions d WHERE d.org = n.org AND d.charge_id = n.id
    ON CONFLICT DO NOTHING`);
  // With those that were just added.
  const changes = (await notedChanges(tx)) ?? noted;
  const from = sql`${changes} AS n CROSS JOIN transactions t`;
  const chosen = sql`t.org = n.org AND t.id = n.id`;
  await changeBlocks(
    tx,
    changes,
    sql`SELECT t.org, COALESCE(t.location_id, 0) AS location_id, p.primary_guarantor_id AS guarantor_id
      ${activeOf(from, chosen)}`,
  );
  await tx.run(sql`DELETE FROM ledger WHERE (org, id) IN ${changes}`);
  await insertRows(tx, from, chosen);
  // A server of before blocks leaves `counted` behind.
  const changed = await tx.all<{ org: number; version: number; counted: number }>(
    sql`INSERT INTO ledger_versions (org, version, counted) SELECT DISTINCT org, 1, 1 FROM ledger_changes WHERE true
      ON CONFLICT (org) DO UPDATE SET version = ledger_versions.version + 1,
        counted = ledger_versions.counted + 1 RETURNING org, version, counted`,
  );
  for (const { org, version, counted } of changed) if (counted !== version) await fillBlocks(tx, org);
  await tx.run(sql`DELETE FROM ledger_changes`);
}

/** Changes that are named in a statement. */
const MAX_NAMED = 200;

/**
 * The noted changes as a table, undefined for none. Few are named one by one: PostgreSQL takes a table that is written and
 * emptied all the time for a large one until it is vacuumed, and would walk the ledger to find them.
 */
async function notedChanges(tx: Transaction): Promise<Sql | undefined> {
  const noted = await tx.all<{ org: number; id: number }>(
    sql`SELECT org, id FROM ledger_changes LIMIT ${MAX_NAMED + 1}`,
  );
  if (noted.length === 0) return undefined;
  if (noted.length > MAX_NAMED) return sql`(SELECT org, id FROM ledger_changes)`;
  const rows = noted.map(({ org, id }) => sql`(CAST(${org} AS BIGINT), CAST(${id} AS BIGINT))`);
  return sql`(SELECT column1 AS org, column2 AS id FROM (VALUES ${join(rows)}) AS named)`;
}

/** Writes the rows of those active transactions `t` that are chosen; there must be none of them. */
async function insertRows(tx: Transaction, from: Sql, chosen: Sql): Promise<void> {
  await tx.run(sql`INSERT INTO ledger
      (org, location_id, guarantor_id, id, transaction_date, is_charge, open_cents, insurance_cents, write_off_cents)
    SELECT t.org, COALESCE(t.location_id, 0) AS location_id, p.primary_guarantor_id, t.id, t.transaction_date,
      CASE WHEN t.amount_cents > 0 THEN 1 ELSE 0 END,
      t.amount_cents + CASE WHEN t.amount_cents > 0
        THEN -COALESCE((SELECT SUM(d.cents) FROM distributions d WHERE d.org = t.org AND d.charge_id = t.id), 0)
        ELSE COALESCE((SELECT SUM(d.cents) FROM distributions d
          JOIN transactions c ON c.org = d.org AND c.id = d.charge_id AND c.is_active = 1 AND c.amount_cents > 0
          WHERE d.org = t.org AND d.credit_id = t.id), 0) END,
      COALESCE(t.estimated_insurance_cents, 0) - COALESCE((SELECT SUM(d.cents) FROM distributions d
        WHERE d.org = t.org AND d.charge_id = t.id AND d.by_insurance = 1), 0),
      COALESCE(t.estimated_write_off_cents, 0)
    ${activeOf(from, chosen)}
    ORDER BY t.org, location_id, p.primary_guarantor_id, t.id`);
}

/** The active transactions `t` among those that are chosen, with their patients `p`. */
function activeOf(from: Sql, chosen: Sql): Sql {
  return sql`FROM ${from} CROSS JOIN patients p
    WHERE ${chosen} AND p.org = t.org AND p.id = t.patient_id AND t.is_active = 1`;
}
