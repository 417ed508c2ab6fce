import sql, { raw } from 'sql-template-tag';
import type { Link } from '../../catalog/fields/composites.ts';
import { transactions } from '../../catalog/resources/transactions.ts';
import { findOrganizationByKey } from '../organizations.ts';
import { transactionBehaviour } from '../resources/transactions.ts';
import type { Service } from '../service.ts';
import { type JsonRecord, linkInJson } from '../store/layout.ts';
import { findRecord, putRecord } from '../store/records.ts';
import type { Transaction } from '../store/store.ts';

interface Correction {
  readonly org: number;
  /** Ids of transactions. */
  readonly original: number;
  readonly replacement: number;
}

/** Begins to collect corrections: `noteCorrection` for each transaction, `settleCorrections` at the end. */
export async function openCorrections(tx: Transaction): Promise<void> {
  await tx.run(sql`CREATE TEMP TABLE import_corrections (org BIGINT, original BIGINT, replacement BIGINT)`);
}

/** Notes a transaction with `previousTransaction`. */
export async function noteCorrection(
  tx: Transaction,
  org: number,
  record: JsonRecord & { readonly id: number },
): Promise<void> {
  const original = (record.previousTransaction as Link).id;
  await tx.run(
    sql`INSERT INTO import_corrections (org, original, replacement) VALUES (${org}, ${original}, ${record.id})`,
  );
}

/** Makes each original inactive and links it to its replacement. */
export async function settleCorrections(tx: Transaction, service: Service, now: string): Promise<void> {
  const corrections = await tx.all<Correction>(
    // A later line may have made another record of the replacement, or deleted it.
    sql`SELECT DISTINCT c.org, c.original, c.replacement FROM import_corrections c
      CROSS JOIN transactions t WHERE t.org = c.org AND t.id = c.replacement
        AND ${raw(linkInJson('t', 'previousTransaction'))} = c.original ORDER BY c.org, c.replacement`,
  );
  await tx.run(sql`DROP TABLE import_corrections`);
  for (const correction of corrections) await correctStored(tx, service, correction, now);
}

/** Makes a stored original inactive and links it to its replacement. */
export async function correctStored(
  tx: Transaction,
  service: Service,
  { org, original, replacement }: Correction,
  now: string,
): Promise<void> {
  const row = await findRecord(tx, { org }, transactions, original);
  const organization = await findOrganizationByKey(tx, org);
  if (row === undefined || organization === undefined) return;
  const before = JSON.parse(row.json) as JsonRecord & { id: number };
  const after = { ...before };
  if (!correct(after, replacement, now)) return;
  const draft = { service, organization, actor: undefined, before, row, after, given: new Set<string>(), problems: [] };
  await putRecord(tx, org, transactions, after, transactionBehaviour.ownValues?.(draft), before);
  await transactionBehaviour.indexed?.(tx, draft);
}

/** Makes a transaction one that has been replaced (specification, Transaction corrections; D25); false when it is one. */
export function correct(original: Record<string, unknown>, replacement: number, now: string): boolean {
  const known = (original.replacedByTransaction as Link | null)?.id;
  if (original.isActive === false && known === replacement) return false;
  Object.assign(original, { isActive: false, replacedByTransaction: { id: replacement }, lastModified: now });
  return true;
}
