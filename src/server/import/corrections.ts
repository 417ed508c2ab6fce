import sql from 'sql-template-tag';
import type { Link } from '../../catalog/fields/composites.ts';
import { transactions } from '../../catalog/resources/transactions.ts';
import { findOrganizationByKey } from '../organizations.ts';
import { transactionBehaviour } from '../resources/transactions.ts';
import type { Service } from '../service.ts';
import type { JsonRecord } from '../store/layout.ts';
import { findRecord, putRecord } from '../store/records.ts';
import type { Transaction } from '../store/store.ts';

/**
 * Corrections of an import: a transaction with `previousTransaction` makes the original inactive and is named by it
 * (specification, Transaction corrections; D25), in whichever order the two came.
 */
export class CorrectionBook {
  private readonly tx: Transaction;

  constructor(tx: Transaction) {
    this.tx = tx;
  }

  async open(): Promise<void> {
    await this.tx.run(sql`CREATE TEMP TABLE import_corrections (org BIGINT, original BIGINT, replacement BIGINT)`);
  }

  async note(org: number, record: JsonRecord & { readonly id: number }): Promise<void> {
    const original = (record.previousTransaction as Link | null)?.id;
    if (original === undefined) return;
    await this.tx.run(
      sql`INSERT INTO import_corrections (org, original, replacement) VALUES (${org}, ${original}, ${record.id})`,
    );
  }

  async settle(service: Service, now: string): Promise<void> {
    const rows = await this.tx.all<{ org: number; original: number; replacement: number }>(
      sql`SELECT org, original, replacement FROM import_corrections ORDER BY org, replacement`,
    );
    await this.tx.run(sql`DROP TABLE import_corrections`);
    for (const { org, original, replacement } of rows) await this.replace(service, org, original, replacement, now);
  }

  private async replace(
    service: Service,
    org: number,
    original: number,
    replacement: number,
    now: string,
  ): Promise<void> {
    const row = await findRecord(this.tx, org, transactions, original);
    const organization = await findOrganizationByKey(this.tx, org);
    if (row === undefined || organization === undefined) return;
    const before = JSON.parse(row.json) as JsonRecord & { id: number };
    if (before.isActive === false && (before.replacedByTransaction as Link | null)?.id === replacement) return;
    const after = { ...before, isActive: false, replacedByTransaction: { id: replacement }, lastModified: now };
    const actor = undefined;
    const draft = { service, organization, actor, before, row, after, given: new Set<string>(), problems: [] };
    await putRecord(this.tx, org, transactions, after, transactionBehaviour.ownValues?.(draft));
    await transactionBehaviour.indexed?.(this.tx, draft);
  }
}
