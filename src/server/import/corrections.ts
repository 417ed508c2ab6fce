import sql from 'sql-template-tag';
import type { Link } from '../../catalog/fields/composites.ts';
import { transactions } from '../../catalog/resources/transactions.ts';
import { findOrganizationByKey } from '../organizations.ts';
import { transactionBehaviour } from '../resources/transactions.ts';
import type { Service } from '../service.ts';
import type { JsonRecord } from '../store/layout.ts';
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
  const original = (record.previousTransaction as Link | null)?.id;
  if (original === undefined) return;
  await tx.run(
    sql`INSERT INTO import_corrections (org, original, replacement) VALUES (${org}, ${original}, ${record.id})`,
  );
}

/** Makes each original inactive and links it to its replacement (specification, Transaction corrections; D25). */
export async function settleCorrections(tx: Transaction, service: Service, now: string): Promise<void> {
  const corrections = await tx.all<Correction>(
    sql`SELECT org, original, replacement FROM import_corrections ORDER BY org, replacement`,
  );
  await tx.run(sql`DROP TABLE import_corrections`);
  for (const { org, original, replacement } of corrections) {
    const row = await findRecord(tx, { org }, transactions, original);
    const organization = await findOrganizationByKey(tx, org);
    if (row === undefined || organization === undefined) continue;
    const before = JSON.parse(row.json) as JsonRecord & { id: number };
    if (before.isActive === false && (before.replacedByTransaction as Link | null)?.id === replacement) continue;
    const after = { ...before, isActive: false, replacedByTransaction: { id: replacement }, lastModified: now };
    const actor = undefined;
    const draft = { service, organization, actor, before, row, after, given: new Set<string>(), problems: [] };
    await putRecord(tx, org, transactions, after, transactionBehaviour.ownValues?.(draft), before);
    await transactionBehaviour.indexed?.(tx, draft);
  }
}
