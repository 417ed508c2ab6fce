import sql, { raw } from 'sql-template-tag';
import type { Dialect } from '../migrations/dialects.ts';
import type { Transaction } from '../store.ts';

/**
 * Has statements of this transaction in PostgreSQL fail that wait for a lock for more than three seconds: whoever waits for
 * a table keeps all those waiting who come after. `transact` tries again.
 */
export async function limitWaiting(tx: Transaction): Promise<void> {
  await tx.run(sql`SET LOCAL lock_timeout = '3s'`);
}

/** Every change of a record locks the row of its organization first, imports excepted. */
export async function lockOrganizations(tx: Transaction, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres') await tx.run(sql`SELECT org FROM organizations ORDER BY org FOR UPDATE`);
}

/** Keeps everybody in PostgreSQL from writing to tables, imports too, which lock no organization. */
export async function lockTables(tx: Transaction, tables: readonly string[]): Promise<void> {
  await tx.run(sql`LOCK TABLE ${raw(tables.join(', '))} IN SHARE ROW EXCLUSIVE MODE`);
}
