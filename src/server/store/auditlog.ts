import { hash } from 'node:crypto';
import sql, { raw } from 'sql-template-tag';
import { type IndexedEntry, indexPatients } from './patientindex.ts';
import { insertStatements, statement } from './statement.ts';
import type { LogValues, Reader, Writing } from './store.ts';

const FIRST_COLUMNS = [
  ...['org', 'at', 'who', 'address', 'request_id', 'operation', 'ids', 'record_count', 'filter_keys'],
] as const;

/** The columns of an entry in the order of its values, beside `id` and `hash`, which its place in the log gives it. */
export const ENTRY_COLUMNS: readonly string[] = [
  ...FIRST_COLUMNS,
  // Columns added later. Entries that have none of them keep the hash that they were written with.
  ...['patients', 'via', 'status', 'client', 'covers_all'],
];

/** The hash of an entry: SHA-256 over the one before it, its number and its values, in hexadecimal. */
export function chainHash(before: string, id: number, values: LogValues): string {
  const added = values.slice(FIRST_COLUMNS.length);
  const hashed = added.every((value) => value === null) ? values.slice(0, FIRST_COLUMNS.length) : values;
  return hash('sha256', JSON.stringify([before, id, ...hashed]), 'hex');
}

/** Appends entries to the end of the log, which stays locked from here to the end of the transaction. */
export async function appendEntries(tx: Writing, entries: readonly LogValues[]): Promise<void> {
  await chain(tx, await lockEnd(tx), entries);
}

/**
 * Writes entries that wait for their place in the log: they have neither hash nor number, but one below zero, the first
 * the highest, that the database gives without a lock.
 */
export async function queueEntries(tx: Writing, entries: readonly LogValues[]): Promise<void> {
  const rows = entries.map((values) => ['', ...values]);
  await Promise.all(insertStatements(QUEUE, rows).map((insert) => tx.run(insert)));
}

const EXACT = `BETWEEN -${Number.MAX_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`;
const NUMBERS = ['id', 'org', 'record_count', 'status', 'covers_all'];
/** What waits. A row with numbers beyond what is exact is none of molar's: it stays where it is, and stops no other. */
const WAITING = raw(["hash = ''", ...NUMBERS.map((name) => `COALESCE(${name}, 0) ${EXACT}`)].join(' AND '));

/** Entries that get their places in one transaction. */
export const MAX_SEQUENCED = 1000;

/**
 * Gives waiting entries their places, in the order in which they were written: for an organization's changes, that of
 * their commits. Only those below a number (0 for all) are looked for. Returns the numbers under which they waited.
 */
export async function sequenceWaiting(tx: Writing, below: number): Promise<readonly number[]> {
  const [end, rows] = await Promise.all([
    lockEnd(tx),
    tx.all<{ id: number } & Record<string, string | number | null>>(
      sql`DELETE FROM audit_entries WHERE id IN (SELECT id FROM audit_entries
          WHERE id < ${below} AND ${WAITING} ORDER BY id DESC LIMIT ${MAX_SEQUENCED})
        RETURNING *`,
    ),
  ]);
  rows.sort((a, b) => b.id - a.id);
  const entries = rows.map((row) => ENTRY_COLUMNS.map((name) => row[name] ?? null));
  if (entries.length > 0) await chain(tx, end, entries);
  return rows.map(({ id }) => id);
}

/** How many entries below a number wait for their place. */
export async function countWaiting(read: Reader, below = 0): Promise<number> {
  const row = await read.get<{ count: number }>(
    sql`SELECT COUNT(*) AS count FROM audit_entries WHERE id < ${below} AND ${WAITING}`,
  );
  return row?.count ?? 0;
}

interface End {
  readonly last_id: number;
  readonly hash: string;
  /** 1: there are rows above it, whoever wrote them; their numbers may be beyond what is exact. */
  readonly strays: number | null;
}

async function lockEnd(tx: Writing): Promise<End> {
  const end = await tx.get<End>(
    statement`UPDATE log_heads SET last_id = last_id WHERE name = 'audit'
      RETURNING last_id, hash, (SELECT MAX(id) FROM audit_entries) > last_id AS strays`,
  );
  if (end === undefined) throw new Error('The log audit has no head.');
  return end;
}

/** Numbers entries from the end of the log on, and writes them, the index of their patients and the new end. */
async function chain(tx: Writing, end: End, entries: readonly LogValues[]): Promise<void> {
  const first = end.last_id + 1;
  const last = end.last_id + entries.length;
  if (end.strays === 1) await moveStrays(tx, first, last);
  let { hash: latest } = end;
  const rows = entries.map((values, index) => {
    latest = chainHash(latest, first + index, values);
    return [first + index, ...values, latest];
  });
  // Sent together: a database that is another process replies to all of them in order.
  await Promise.all([
    ...insertStatements(INSERT, rows).map((insert) => tx.run(insert)),
    tx.run(statement`UPDATE log_heads SET last_id = ${last}, hash = ${latest} WHERE name = 'audit'`),
    indexPatients(
      tx,
      entries.map((values, index) => indexed(first + index, values)),
    ),
  ]);
}

const INSERT = `INSERT INTO audit_entries (id, ${ENTRY_COLUMNS.join(', ')}, hash)`;
const QUEUE = `INSERT INTO audit_entries (hash, ${ENTRY_COLUMNS.join(', ')})`;

/** What the index needs of an entry. */
function indexed(id: number, values: LogValues): IndexedEntry {
  const of = Object.fromEntries(ENTRY_COLUMNS.map((name, index) => [name, values[index]]));
  return { ...(of as unknown as Omit<IndexedEntry, 'id'>), id };
}

/**
 * Moves rows out of the way that stand where entries are to be written: molar did not write them. They neither block the
 * log nor join it, and are kept for whoever looks into it.
 */
async function moveStrays(tx: Writing, first: number, last: number): Promise<void> {
  const columns = raw('id, org, at, who, address, request_id, operation, ids, hash');
  await tx.run(sql`INSERT INTO audit_strays (${columns})
    SELECT ${columns} FROM audit_entries WHERE id >= ${first} AND id <= ${last}`);
  await tx.run(sql`DELETE FROM audit_entries WHERE id >= ${first} AND id <= ${last}`);
}
