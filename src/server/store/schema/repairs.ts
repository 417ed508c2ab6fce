import sql, { join, raw } from 'sql-template-tag';
import type { Layout } from '../layout.ts';
import type { Transaction } from '../store.ts';
import { bringRows, type StoredRow, storedColumns, tryLockOrganization } from './backfill.ts';
import type { Schema } from './schema.ts';

/** The trigger on each table whose rows have to be repaired (migration `phases`). */
const TRIGGER = 'note_repair';

/** The parameter by which whoever writes says whose form the rows have. */
const PARAMETER = 'molar.schema';

/** Rows of one transaction. */
const ROWS = 500;

/** The command by which a transaction says that it writes rows in the form of a schema. */
export function declaringText({ fingerprint }: Pick<Schema, 'fingerprint'>): string {
  return `SET LOCAL ${PARAMETER} = '${fingerprint}'`;
}

/** Says that this transaction writes rows in the form of a schema: nobody has to repair them. */
export async function declareSchema(tx: Transaction, { fingerprint }: Pick<Schema, 'fingerprint'>): Promise<void> {
  await tx.get(sql`SELECT set_config(${PARAMETER}, ${fingerprint}, true)`);
}

/** Tables of PostgreSQL whose rows are noted when somebody writes them who does not declare the last schema. */
export async function notedTables(tx: Transaction): Promise<string[]> {
  const rows = await tx.all<{ name: string }>(
    sql`SELECT c.relname AS name FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
      WHERE t.tgname = ${TRIGGER} AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname`,
  );
  return rows.map(({ name }) => name);
}

/** From now on rows of a table are noted that are written by older servers: these leave out what was added. */
export async function noteRepairs(tx: Transaction, table: string, { fingerprint }: Schema): Promise<void> {
  const isOther = `current_setting('${PARAMETER}', true) IS DISTINCT FROM '${fingerprint}'`;
  await tx.run(
    sql`${raw(`CREATE OR REPLACE TRIGGER ${TRIGGER} AFTER INSERT OR UPDATE OR DELETE ON ${table}
    FOR EACH ROW WHEN (${isOther}) EXECUTE FUNCTION note_repair()`)}`,
  );
}

/** No rows are noted any more. */
export async function endRepairs(tx: Transaction): Promise<void> {
  for (const table of await notedTables(tx)) await tx.run(sql`DROP TRIGGER ${raw(TRIGGER)} ON ${raw(table)}`);
}

/**
 * Brings rows that older servers have written to the form of a schema; returns how many notes it has dealt with. It waits
 * for nobody: what a writer of the organization, or an import, has in hand is left for the next time.
 */
export async function repairNoted(tx: Transaction, schema: Schema): Promise<number> {
  let last = { org: 0, table: '' };
  for (;;) {
    const next = await tx.get<{ org: number; table: string }>(
      sql`SELECT org, table_name AS "table" FROM schema_repairs WHERE (org, table_name) > (${last.org}, ${last.table})
        ORDER BY org, table_name, id LIMIT 1`,
    );
    if (next === undefined) return 0;
    const done = (await tryLockOrganization(tx, next.org)) ? await repairSome(tx, schema, next.org, next.table) : 0;
    if (done > 0) return done;
    last = next;
  }
}

/** Deals with the notes of some rows of a table, and returns how many these were. */
async function repairSome(tx: Transaction, schema: Schema, org: number, table: string): Promise<number> {
  await declareSchema(tx, schema);
  const noted = await tx.all<{ id: number }>(
    sql`SELECT id FROM schema_repairs WHERE org = ${org} AND table_name = ${table} ORDER BY id LIMIT ${ROWS}
      FOR UPDATE SKIP LOCKED`,
  );
  const ids = noted.map(({ id }) => id);
  if (ids.length === 0) return 0;
  const layout = schema.layouts.find((layout) => layout.table === table);
  const done = layout === undefined ? ids : await repairRows(tx, layout, org, ids);
  if (done.length === 0) return 0;
  return tx.run(
    sql`DELETE FROM schema_repairs WHERE org = ${org} AND table_name = ${table} AND id IN (${join([...done])})`,
  );
}

/** Repairs the rows with some ids, and clears what is left of those that are gone. Returns the ids that are done. */
async function repairRows(tx: Transaction, layout: Layout, org: number, ids: readonly number[]): Promise<number[]> {
  const these = sql`org = ${org} AND id IN (${join([...ids])})`;
  const rows = await tx.all<StoredRow>(
    sql`SELECT ${storedColumns(layout)} FROM ${raw(layout.table)} WHERE ${these} ORDER BY id FOR UPDATE SKIP LOCKED`,
  );
  await bringRows(tx, layout, org, rows, these);
  const there = await tx.all<{ id: number }>(sql`SELECT id FROM ${raw(layout.table)} WHERE ${these}`);
  const kept = new Set(there.map(({ id }) => id));
  const gone = ids.filter((id) => !kept.has(id));
  if (gone.length > 0) {
    for (const { table } of layout.sides) {
      await tx.run(sql`DELETE FROM ${raw(table)} WHERE org = ${org} AND id IN (${join(gone)})`);
    }
  }
  return [...gone, ...rows.map(({ id }) => id)];
}
