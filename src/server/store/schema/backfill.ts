import sql, { raw, type Sql } from 'sql-template-tag';
import { blankRecord } from '../../rendering.ts';
import type { JsonRecord, Layout, Side } from '../layout.ts';
import type { Dialect } from '../migrations/dialects.ts';
import type { ColumnValue } from '../owncolumns.ts';
import { bound, manyRows, type Texts } from '../statement.ts';
import { type Statement, StoreUnusable, type Transaction } from '../store.ts';

/** The key of a row. */
export interface RowKey {
  readonly org: number;
  readonly id: number;
}

/** The last row of a page, and how many rows the page had. */
export interface Page extends RowKey {
  readonly rows: number;
}

/** A row as it is read to be brought to its form: `storedColumns`. */
export interface StoredRow {
  readonly id: number;
  readonly json: string;
  readonly [column: string]: unknown;
}

/**
 * Brings the next rows after a key to the form of their layout: columns and side tables as a write would fill them, and
 * the fields that their JSON lacks as null, where a write would put them. Rows that lack nothing are not written. Returns
 * undefined when there are no more rows. Throws `StoreUnusable` on a row whose JSON cannot be read.
 */
export async function backfillPage(
  tx: Transaction,
  layout: Layout,
  after: RowKey,
  limit: number,
  dialect: Dialect,
): Promise<Page | undefined> {
  const org = await nextOrg(tx, layout.table, after, dialect);
  if (org === undefined) return undefined;
  const id = org === after.org ? after.id : 0;
  const rows = await readRows(tx, layout, { org, id }, limit, dialect);
  const last = rows.at(-1);
  // Its last rows were deleted meanwhile.
  if (last === undefined) return { org, id: Number.MAX_SAFE_INTEGER, rows: 0 };
  const within = sql`org = ${org} AND id >= ${rows[0]?.id} AND id <= ${last.id}`;
  await bringRows(tx, layout, org, rows, within);
  return { org, id: last.id, rows: rows.length };
}

/** Brings rows of an organization to the form of their layout; `these` selects their values in side tables. */
export async function bringRows(
  tx: Transaction,
  layout: Layout,
  org: number,
  rows: readonly StoredRow[],
  these: Sql,
): Promise<void> {
  const records: { id: number; record: JsonRecord }[] = [];
  const writes: Promise<unknown>[] = [];
  for (const row of rows) {
    const record = await recordOf(tx, layout, org, row);
    records.push({ id: row.id, record });
    const changes = changesOf(layout, row, record);
    // Not awaited one by one: PostgreSQL takes them without a round trip each.
    if (changes.length > 0) writes.push(tx.run(updateOf(layout.table, { org, id: row.id }, changes)));
  }
  await Promise.all(writes);
  if (records.length === 0) return;
  for (const side of layout.sides) await backfillSide(tx, side, org, records, these);
}

/** The organization of the next row, which no other server writes to until this transaction ends. */
async function nextOrg(tx: Transaction, table: string, { org, id }: RowKey, dialect: Dialect) {
  const next = await tx.get<{ org: number }>(
    sql`SELECT org FROM ${raw(table)} WHERE (org, id) > (${org}, ${id}) ORDER BY org, id LIMIT 1`,
  );
  if (next !== undefined && dialect === 'postgres') await lockOrganization(tx, next.org);
  return next?.org;
}

/** In PostgreSQL: no other server writes to the organization until this transaction ends, imports excepted. */
async function lockOrganization(tx: Transaction, org: number): Promise<void> {
  await tx.get(sql`SELECT org FROM organizations WHERE org = ${org} FOR UPDATE`);
}

/** As `lockOrganization`, without waiting: false where somebody writes to it. One that was removed needs no lock. */
export async function tryLockOrganization(tx: Transaction, org: number): Promise<boolean> {
  const locked = await tx.get(sql`SELECT org FROM organizations WHERE org = ${org} FOR UPDATE SKIP LOCKED`);
  return locked !== undefined || (await tx.get(sql`SELECT org FROM organizations WHERE org = ${org}`)) === undefined;
}

/** The columns of a row that are compared with its record. */
export function storedColumns({ columns }: Layout): Sql {
  const derived = columns.filter(({ of }) => of !== undefined).map(({ name }) => name);
  return raw(['id', ...derived, 'json'].join(', '));
}

function readRows(tx: Transaction, layout: Layout, { org, id }: RowKey, limit: number, dialect: Dialect) {
  const locked = raw(dialect === 'postgres' ? ' FOR UPDATE' : '');
  return tx.all<StoredRow>(
    sql`SELECT ${storedColumns(layout)} FROM ${raw(layout.table)}
      WHERE org = ${org} AND id > ${id} ORDER BY id LIMIT ${limit}${locked}`,
  );
}

async function recordOf(tx: Transaction, { table, resource }: Layout, org: number, row: StoredRow) {
  const record = parseRecord(row.json);
  if (record !== undefined) return record;
  const organization = await tx.get<{ id: string }>(sql`SELECT id FROM organizations WHERE org = ${org}`);
  throw new StoreUnusable(
    `The ${resource.one} ${row.id} of organization ${organization?.id ?? org} has JSON that cannot be read (table ${table}).`,
    'Restore the last backup, or repair that row with database tools; then start again.',
  );
}

/** The record of a JSON text; undefined for what is no JSON object. */
export function parseRecord(json: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonRecord) : undefined;
  } catch {
    return undefined;
  }
}

type Change = readonly [column: string, value: ColumnValue];

/** The columns of a row that are not what a write of its record would store. */
function changesOf({ columns, fields, resource }: Layout, row: StoredRow, record: JsonRecord): Change[] {
  const changes: Change[] = [];
  for (const { name, of } of columns) {
    if (of === undefined) continue;
    const value = of(record);
    if ((row[name] ?? null) !== (value ?? null)) changes.push([name, value]);
  }
  if (fields.every((name) => Object.hasOwn(record, name))) return changes;
  const blank = blankRecord(resource);
  const ordered = Object.fromEntries(fields.map((name) => [name, blank[name]]));
  return [...changes, ['json', JSON.stringify({ ...ordered, ...record })]];
}

const updates = new Map<string, Texts>();

/** Sets what changes and nothing else: an index of a column that is not named is left alone. */
function updateOf(table: string, { org, id }: RowKey, changes: readonly Change[]): Statement {
  const names = changes.map(([column]) => column);
  const key = `${table} ${names}`;
  const known = updates.get(key);
  const values = [...changes.map(([, value]) => value), org, id];
  if (known !== undefined) return bound(known, values);
  const made = (place: (index: number) => string) =>
    `UPDATE ${table} SET ${names.map((name, index) => `${name} = ${place(index)}`).join(', ')}
      WHERE org = ${place(names.length)} AND id = ${place(names.length + 1)}`;
  const texts = { sql: made(() => '?'), text: made((index) => `$${index + 1}`) };
  updates.set(key, texts);
  return bound(texts, values);
}

async function backfillSide(
  tx: Transaction,
  { table, of }: Side,
  org: number,
  records: readonly { readonly id: number; readonly record: JsonRecord }[],
  these: Sql,
): Promise<void> {
  const name = raw(table);
  const stored = await tx.all<{ id: number; value: string }>(sql`SELECT id, value FROM ${name} WHERE ${these}`);
  const known = new Map<number, Set<string>>();
  for (const { id, value } of stored) known.set(id, (known.get(id) ?? new Set()).add(value));
  const writes: Promise<unknown>[] = [];
  const inserts = manyRows(`INSERT INTO ${table} (org, value, id)`, 3, 1);
  for (const { id, record } of records) {
    const values = of(record);
    const had = known.get(id) ?? new Set();
    for (const value of values) {
      if (had.delete(value)) continue;
      writes.push(tx.run(bound(inserts, [org, value, id])));
    }
    for (const value of had) {
      writes.push(tx.run(sql`DELETE FROM ${name} WHERE org = ${org} AND value = ${value} AND id = ${id}`));
    }
  }
  await Promise.all(writes);
}
