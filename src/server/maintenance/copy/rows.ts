import { createHash } from 'node:crypto';
import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { Table } from '../../store/schema/introspection.ts';
import type { Reader, Transaction } from '../../store/store.ts';
import { turn, type Work } from '../work.ts';

/** What a column holds, in every store. */
type Value = string | number | null;

/** The values of a row in the order of its table's columns. */
export type Values = readonly Value[];

/** Rows read and written at once. */
const ROWS = 500;

/** Rows of one statement: few sizes, so that few statements are prepared. */
const SIZES = [100, 10, 1] as const;

/** The next rows of a table by its primary key, after the key given; fewer than `ROWS` at the end. */
export async function readRows(read: Reader, table: Table, after: Values | undefined): Promise<Values[]> {
  const key = raw(table.key.join(', '));
  const above =
    after === undefined ? sql`` : sql` WHERE ${tuple(table.key.map((name) => raw(name)))} > ${tuple(after)}`;
  const rows = await read.all<Readonly<Record<string, Value>>>(
    sql`SELECT ${raw(table.columns.join(', '))} FROM ${raw(table.name)}${above} ORDER BY ${key} LIMIT ${ROWS}`,
  );
  return rows.map((row) => table.columns.map((name) => row[name] ?? null));
}

/** One column stands without brackets: SQLite takes row values of two columns or more only. */
function tuple(parts: readonly (Value | Sql)[]): Sql {
  return parts.length === 1 ? sql`${parts[0]}` : sql`(${join([...parts])})`;
}

/** The primary key of a row. */
export function keyOf(table: Table, row: Values): Values {
  return table.key.map((name) => row[table.columns.indexOf(name)] ?? null);
}

/** Inserts rows with all their columns, keys that the database would give included. */
export async function insertRows(tx: Transaction, table: Table, rows: readonly Values[]): Promise<void> {
  const names = raw(table.columns.join(', '));
  for (let at = 0; at < rows.length; ) {
    const left = rows.length - at;
    const size = SIZES.find((candidate) => candidate <= left) ?? 1;
    const places = join(rows.slice(at, at + size).map((row) => sql`(${join([...row])})`));
    await tx.run(sql`INSERT INTO ${raw(table.name)} (${names}) VALUES ${places}`);
    at += size;
  }
}

/** What two stores are compared by: how many rows a table has, and one hash over all of them. */
interface TableDigest {
  readonly rows: number;
  readonly hash: string;
}

const MODULUS = 1n << 256n;

/**
 * Reads a whole table. The hash is the sum of the SHA-256 of each row, so it does not depend on the order in which a
 * store sorts its keys.
 */
export async function digestOf(read: Reader, table: Table, work: Work): Promise<TableDigest> {
  let rows = 0;
  let sum = 0n;
  for await (const page of pagesOf(read, table)) {
    for (const row of page) sum = (sum + hashOfRow(row)) % MODULUS;
    rows += page.length;
    await turn(work, `Comparing ${table.name}`, page.length);
  }
  return { rows, hash: sum.toString(16).padStart(64, '0') };
}

function hashOfRow(row: Values): bigint {
  return BigInt(`0x${createHash('sha256').update(JSON.stringify(row)).digest('hex')}`);
}

/** All rows of a table, some at a time. */
export async function* pagesOf(read: Reader, table: Table, after?: Values): AsyncGenerator<readonly Values[]> {
  for (let from = after; ; ) {
    const page = await readRows(read, table, from);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    from = keyOf(table, last);
  }
}
