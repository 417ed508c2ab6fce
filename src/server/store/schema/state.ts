import sql, { raw } from 'sql-template-tag';
import type { Dialect } from '../migrations/dialects.ts';
import type { Reader, Transaction } from '../store.ts';
import type { TableRecord } from './schema.ts';

/** How far the backfill of a table has come: rows up to this key have been worked on. */
export interface Backfill {
  readonly table_name: string;
  /** The form that rows are brought to (`rowForm`). */
  readonly goal: string;
  readonly org: number;
  readonly id: number;
  readonly done: number;
  /** Rows of the table when they were counted; 0 before. */
  readonly total: number;
}

/** Rows of `schema_state`, by name. */
const FINGERPRINT = 'fingerprint';
const GOAL = 'goal';
const VERSION = 'molar';
const LOG_HEADS = 'log heads';
const UNFINISHED = 'unfinished';
const SERVES = 'serves ';

/** The statement by which the fingerprint of the schema is read: `value`, or no row while an upgrade is not complete. */
export const FINGERPRINT_TEXT = `SELECT value FROM schema_state WHERE name = '${FINGERPRINT}'`;

/** The fingerprint of the schema that every table, row and index follows; undefined while an upgrade is not complete. */
export function readFingerprint(read: Reader): Promise<string | undefined> {
  return readState(read, FINGERPRINT);
}

/** Says that the schema is complete, or with undefined that it is not. */
export async function writeFingerprint(tx: Transaction, fingerprint: string | undefined): Promise<void> {
  if (fingerprint !== undefined) return writeState(tx, FINGERPRINT, fingerprint);
  await tx.run(sql`DELETE FROM schema_state WHERE name = ${FINGERPRINT}`);
}

/** The fingerprint that the last upgrade brings, or brought, the schema to; no other upgrade begins until this transaction ends. */
export async function lockGoal(tx: Transaction, dialect: Dialect): Promise<string | undefined> {
  const locked = raw(dialect === 'postgres' ? ' FOR UPDATE' : '');
  const row = await tx.get<{ value: string }>(sql`SELECT value FROM schema_state WHERE name = ${GOAL}${locked}`);
  return row?.value;
}

/** As `lockGoal`, without keeping others from beginning an upgrade: for who may not write what is noted of the schema. */
export function readGoal(read: Reader): Promise<string | undefined> {
  return readState(read, GOAL);
}

/** Says which schema an upgrade brings the database to: one of another version notices that it is overtaken. */
export function writeGoal(tx: Transaction, fingerprint: string): Promise<void> {
  return writeState(tx, GOAL, fingerprint);
}

/** The version of the molar that completed the schema last. */
export function readMolarVersion(read: Reader): Promise<string | undefined> {
  return readState(read, VERSION);
}

export function writeMolarVersion(tx: Transaction, version: string): Promise<void> {
  return writeState(tx, VERSION, version);
}

const IS_THERE = {
  sqlite: sql`SELECT 1 AS found FROM sqlite_master WHERE name = 'schema_state'`,
  postgres: sql`SELECT 1 AS found WHERE to_regclass('schema_state') IS NOT NULL`,
};

/** Whether servers of an earlier schema may go on beside those of the one that the database has now. */
export async function isServed(read: Reader, fingerprint: string, dialect: Dialect): Promise<boolean> {
  if ((await read.get(IS_THERE[dialect])) === undefined) return false;
  return (await readState(read, SERVES + fingerprint)) !== undefined;
}

/** The statement by which a server of an earlier schema learns whether it may go on: a row, or none. */
export function servedText(fingerprint: string): string {
  return `SELECT 1 FROM schema_state WHERE name = '${SERVES}${fingerprint}'`;
}

/** Says that servers of an earlier schema may go on. */
export function writeServed(tx: Transaction, fingerprint: string): Promise<void> {
  return writeState(tx, SERVES + fingerprint, '');
}

/** From now on no servers but those of this schema are ready. */
export async function deleteServed(tx: Transaction): Promise<void> {
  await tx.run(sql`DELETE FROM schema_state WHERE name LIKE ${`${SERVES}%`}`);
}

/** What an upgrade has left for when no older server is there any more. */
export interface Unfinished {
  /** UTC milliseconds: until then there may be older servers that do not register. */
  readonly notBefore: number;
  /** Names of indexes that only older servers use. */
  readonly indexes: readonly string[];
}

/** Undefined when nothing is left to do. */
export async function readUnfinished(read: Reader): Promise<Unfinished | undefined> {
  const value = await readState(read, UNFINISHED);
  return value === undefined ? undefined : (JSON.parse(value) as Unfinished);
}

/** Notes what is left to do; nothing, with undefined. */
export async function writeUnfinished(tx: Transaction, left: Unfinished | undefined): Promise<void> {
  if (left !== undefined) return writeState(tx, UNFINISHED, JSON.stringify(left));
  await tx.run(sql`DELETE FROM schema_state WHERE name = ${UNFINISHED}`);
}

/** The newest rows of the logs when a pass over the rows began: every server adds to them with what it writes. */
export function readNotedHeads(read: Reader): Promise<string | undefined> {
  return readState(read, LOG_HEADS);
}

export function writeNotedHeads(tx: Transaction, heads: string): Promise<void> {
  return writeState(tx, LOG_HEADS, heads);
}

/** What is known of a table's rows and indexes; undefined for a table of before such records. */
export async function readTableRecord(read: Reader, table: string): Promise<TableRecord | undefined> {
  const value = await readState(read, `table ${table}`);
  return value === undefined ? undefined : (JSON.parse(value) as TableRecord);
}

/** What is known of all tables that have such a record, by their names. */
export async function readTableRecords(read: Reader): Promise<ReadonlyMap<string, TableRecord>> {
  const rows = await read.all<{ name: string; value: string }>(
    sql`SELECT name, value FROM schema_state WHERE name LIKE 'table %'`,
  );
  return new Map(rows.map(({ name, value }) => [name.slice('table '.length), JSON.parse(value) as TableRecord]));
}

export function writeTableRecord(tx: Transaction, table: string, record: TableRecord): Promise<void> {
  return writeState(tx, `table ${table}`, JSON.stringify(record));
}

/** The backfills that are not complete, by table. */
export async function readBackfills(read: Reader): Promise<ReadonlyMap<string, Backfill>> {
  const rows = await read.all<Backfill>(sql`SELECT table_name, goal, org, id, done, total FROM schema_backfills`);
  return new Map(rows.map((row) => [row.table_name, row]));
}

/** How far the backfill of a table has come; no other server works on it until this transaction ends. */
export function lockBackfill(tx: Transaction, table: string, dialect: Dialect): Promise<Backfill | undefined> {
  return tx.get<Backfill>(
    sql`SELECT table_name, goal, org, id, done, total FROM schema_backfills
      WHERE table_name = ${table}${raw(dialect === 'postgres' ? ' FOR UPDATE' : '')}`,
  );
}

export async function writeBackfill(
  tx: Transaction,
  { table_name, goal, org, id, done, total }: Backfill,
): Promise<void> {
  await tx.run(sql`INSERT INTO schema_backfills (table_name, goal, org, id, done, total)
    VALUES (${table_name}, ${goal}, ${org}, ${id}, ${done}, ${total})
    ON CONFLICT (table_name) DO UPDATE SET goal = excluded.goal, org = excluded.org, id = excluded.id,
      done = excluded.done, total = excluded.total`);
}

/** Starts every backfill over: rows may have been written behind it. */
export async function restartBackfills(tx: Transaction): Promise<void> {
  await tx.run(sql`UPDATE schema_backfills SET org = 0, id = 0, done = 0`);
}

/** Every table has its form, or a new upgrade begins. */
export async function deleteBackfills(tx: Transaction): Promise<void> {
  await tx.run(sql`DELETE FROM schema_backfills`);
}

async function readState(read: Reader, name: string): Promise<string | undefined> {
  const row = await read.get<{ value: string }>(sql`SELECT value FROM schema_state WHERE name = ${name}`);
  return row?.value;
}

async function writeState(tx: Transaction, name: string, value: string): Promise<void> {
  await tx.run(sql`INSERT INTO schema_state (name, value) VALUES (${name}, ${value})
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
}
