import { createHash } from 'node:crypto';
import sql, { raw } from 'sql-template-tag';
import type { Dialect } from '../../store/migrations/dialects.ts';
import { type DatabaseSchema, hasTable } from '../../store/schema/introspection.ts';
import { type Reader, StoreUnusable, type Transaction } from '../../store/store.ts';
import { contentTables } from '../tables.ts';
import type { Values } from './rows.ts';

/** The table in a target with the progress of a copy; it exists until the copy is complete. */
export const STATE_TABLE = 'copy_state';

/** How far a table has been copied. */
interface TableState {
  readonly after: Values | null;
  readonly done: boolean;
}

/** Name of the row that identifies the source. */
const SOURCE = 'source';

/** What a store without content has all the same: heads of logs, and what it made when it was first opened. */
const MADE_AT_ONCE = new Set(['log_heads', 'settings', 'audit_checkpoints']);

/** Identifies a source: by its own name and the time it was made, hashed. */
export async function identityOf(read: Reader): Promise<string> {
  const own = await read.get<{ value: string }>(sql`SELECT value FROM settings WHERE name = 'store_id'`);
  const first = await read.get<{ applied_at: string }>(sql`SELECT applied_at FROM schema_migrations WHERE version = 1`);
  return createHash('sha256')
    .update(`${own?.value ?? ''} ${first?.applied_at ?? ''}`)
    .digest('hex');
}

/** Begins a copy in an empty target, or resumes one of the same source. Throws `StoreUnusable`. */
export async function beginCopy(tx: Transaction, schema: DatabaseSchema, source: string, name: string): Promise<void> {
  if (!schema.tables.some((table) => table.name === STATE_TABLE)) {
    const full = await firstFullTable(tx, schema);
    if (full !== undefined) {
      throw new StoreUnusable(`${name} is not empty: it has ${full}.`, 'Name an empty one; nothing was changed.');
    }
    await tx.run(sql`CREATE TABLE ${raw(STATE_TABLE)} (name TEXT PRIMARY KEY, value TEXT NOT NULL)`);
    for (const table of MADE_AT_ONCE) await tx.run(sql`DELETE FROM ${raw(table)}`);
  }
  const begun = await readState(tx, SOURCE);
  if (begun !== undefined && begun !== source) {
    throw new StoreUnusable(
      `${name} has an unfinished copy of another source.`,
      'Finish that copy, or name an empty one; nothing was changed.',
    );
  }
  if (begun === undefined) await writeState(tx, SOURCE, source);
}

async function firstFullTable(read: Reader, schema: DatabaseSchema): Promise<string | undefined> {
  for (const { name } of contentTables(schema)) {
    if (MADE_AT_ONCE.has(name)) continue;
    if ((await read.get(sql`SELECT 1 AS found FROM ${raw(name)} LIMIT 1`)) !== undefined) return name;
  }
  return undefined;
}

/** The progress of a table; at its start when nothing is noted. */
export async function readTableState(read: Reader, table: string): Promise<TableState> {
  const text = await readState(read, `table ${table}`);
  return text === undefined ? { after: null, done: false } : (JSON.parse(text) as TableState);
}

/** Notes the progress of a table, in the transaction of its rows. */
export function writeTableState(tx: Transaction, table: string, state: TableState): Promise<void> {
  return writeState(tx, `table ${table}`, JSON.stringify(state));
}

/** The copy is complete. */
export async function endCopy(tx: Transaction): Promise<void> {
  await tx.run(sql`DROP TABLE ${raw(STATE_TABLE)}`);
}

async function readState(read: Reader, name: string): Promise<string | undefined> {
  const row = await read.get<{ value: string }>(sql`SELECT value FROM ${raw(STATE_TABLE)} WHERE name = ${name}`);
  return row?.value;
}

async function writeState(tx: Transaction, name: string, value: string): Promise<void> {
  await tx.run(sql`INSERT INTO ${raw(STATE_TABLE)} (name, value) VALUES (${name}, ${value})
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
}

/** Refuses a store into which a copy was begun and not completed: it has some of the records. Throws `StoreUnusable`. */
export async function refuseUnfinished(read: Reader, dialect: Dialect): Promise<void> {
  if (!(await hasTable(read, dialect, STATE_TABLE))) return;
  throw new StoreUnusable(
    'The database has an unfinished copy, which was not completed.',
    'Run the same molar server migrate or molar server restore again: it resumes.',
  );
}
