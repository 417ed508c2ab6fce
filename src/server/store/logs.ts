import { hash } from 'node:crypto';
import sql, { raw, type Sql } from 'sql-template-tag';
import { AuditFault } from './faults.ts';
import { type IndexedEntry, indexPatients } from './patientindex.ts';
import { bound, manyRows, statement, type Texts } from './statement.ts';
import type { LogName, LogRow, LogValues, Reader, Statement } from './store.ts';
import { allotNumbers, numbersFor } from './streamheads.ts';

export interface Log {
  readonly table: string;
  readonly columns: readonly string[];
  /** Each row carries a hash over itself and the row before it; without that, a number of its organization's own. */
  readonly chained: boolean;
}

const FIRST_AUDIT_COLUMNS = [
  ...['org', 'at', 'who', 'address', 'request_id', 'operation', 'ids', 'record_count', 'filter_keys'],
] as const;

export const LOGS: Readonly<Record<LogName, Log>> = {
  stream: {
    table: 'stream_messages',
    columns: [
      ...['org', 'routing_key', 'sent_at', 'correlation_id', 'payload', 'places', 'record'],
      ...['record_id', 'patient_id'],
    ],
    chained: false,
  },
  audit: {
    table: 'audit_entries',
    columns: [
      ...FIRST_AUDIT_COLUMNS,
      // Columns added later. Entries that have none of them keep the hash that they were written with.
      ...['patients', 'via', 'status', 'client', 'covers_all'],
    ],
    chained: true,
  },
};

/** The hash of a row of a chained log: SHA-256 over the one before it, its number and its values, in hexadecimal. */
export function chainHash(before: string, id: number, values: LogValues): string {
  const added = values.slice(FIRST_AUDIT_COLUMNS.length);
  const hashed = added.every((value) => value === null) ? values.slice(0, FIRST_AUDIT_COLUMNS.length) : values;
  return hash('sha256', JSON.stringify([before, id, ...hashed]), 'hex');
}

/** Rows of one statement: few sizes, so that few statements are prepared. */
const SIZES = [100, 20, 5, 1] as const;

interface Writing extends Pick<Reader, 'get'> {
  run(statement: Statement): Promise<number>;
}

/**
 * Numbers rows and writes them. The head of a log stays locked from here to the end of the transaction, so nothing
 * becomes visible above a number that is still to come: call it as late as the store can.
 */
export async function writeLogs(tx: Writing, rows: readonly LogRow[]): Promise<void> {
  // Always in this order, so that two transactions cannot wait for each other.
  for (const name of ['stream', 'audit'] as const) {
    const own = rows.filter((row) => row.log === name).map((row) => row.values);
    if (own.length === 0) continue;
    if (name === 'audit') await writeLog(tx, name, own).catch(rethrowFault);
    else await writeLog(tx, name, own);
  }
}

/** Faults of statements, which have a code or a state; others are for the store that runs them. */
function rethrowFault(error: unknown): never {
  throw error instanceof Error && ('code' in error || 'state' in error) ? new AuditFault(error) : error;
}

async function writeLog(tx: Writing, name: LogName, rows: readonly LogValues[]): Promise<void> {
  const { chained } = LOGS[name];
  const head = await tx.get<{ last_id: number; hash: string; top?: number }>(
    chained
      ? statement`UPDATE log_heads SET last_id = last_id + ${rows.length} WHERE name = ${name}
          RETURNING last_id, hash, (SELECT MAX(id) FROM audit_entries) AS top`
      : statement`UPDATE log_heads SET last_id = last_id + ${rows.length} WHERE name = ${name} RETURNING last_id, hash`,
  );
  if (head === undefined) throw new Error(`The log ${name} has no head.`);
  let id = head.last_id - rows.length;
  if ((head.top ?? 0) > id) await moveStrays(tx, id, head.last_id);
  const orgs = rows.map(([org]) => Number(org));
  const numberOf = chained ? undefined : await numbersFor(tx, orgs);
  let last = head.hash;
  for (const part of parts(rows)) {
    const written: (string | number | null)[] = [];
    for (const values of part) {
      written.push(++id, ...values);
      if (numberOf === undefined) last = chainHash(last, id, values);
      written.push(numberOf?.(Number(values[0])) ?? last);
    }
    await tx.run(bound(insertTexts(name, part.length), written));
  }
  if (!chained) return;
  await tx.run(statement`UPDATE log_heads SET hash = ${last} WHERE name = ${name}`);
  const from = head.last_id - rows.length + 1;
  await indexPatients(
    tx,
    rows.map((values, index) => indexedEntry(from + index, values)),
  );
}

const [ORG, OPERATION, IDS, PATIENTS, COVERS_ALL] = ['org', 'operation', 'ids', 'patients', 'covers_all'].map((name) =>
  LOGS.audit.columns.indexOf(name),
) as [number, number, number, number, number];

/** What the index needs of an entry; picked by place, since every read has one. */
function indexedEntry(id: number, values: LogValues): IndexedEntry {
  return {
    id,
    org: values[ORG] as number | null,
    operation: values[OPERATION] as string,
    ids: values[IDS] as string | null,
    patients: values[PATIENTS] as string | null,
    covers_all: values[COVERS_ALL] as number | null,
  };
}

/**
 * Moves rows out of the way that stand where entries are to be written: molar did not write them. They neither block the
 * log nor join it, and are kept for whoever looks into it.
 */
async function moveStrays(tx: Writing, after: number, upTo: number): Promise<void> {
  const columns = raw('id, org, at, who, address, request_id, operation, ids, hash');
  await tx.run(sql`INSERT INTO audit_strays (${columns})
    SELECT ${columns} FROM audit_entries WHERE id > ${after} AND id <= ${upTo}`);
  await tx.run(sql`DELETE FROM audit_entries WHERE id > ${after} AND id <= ${upTo}`);
}

/** Numbers the rows that a statement selects, and writes them to the stream's log (`Transaction.appendSelected`). */
export async function writeSelected(tx: Writing, org: number, select: Sql, rows: number): Promise<void> {
  const { table, columns } = LOGS.stream;
  const names = raw(columns.join(', '));
  const head = await tx.get<{ last_id: number }>(
    statement`UPDATE log_heads SET last_id = last_id + ${rows} WHERE name = 'stream' RETURNING last_id`,
  );
  if (head === undefined) throw new Error('The log stream has no head.');
  const before = await allotNumbers(tx, org, rows);
  await tx.run(sql`INSERT INTO ${raw(table)} (id, ${names}, seq)
    SELECT s.position + CAST(${head.last_id - rows} AS BIGINT), ${names}, s.position + CAST(${before} AS BIGINT)
      FROM (${select}) AS s ORDER BY s.position`);
}

const texts = new Map<string, Texts>();

/** The statement that writes so many rows of a log, made once. */
function insertTexts(name: LogName, rows: number): Texts {
  const key = `${name} ${rows}`;
  const known = texts.get(key);
  if (known !== undefined) return known;
  const { table, columns, chained } = LOGS[name];
  const names = ['id', ...columns, chained ? 'hash' : 'seq'];
  const made = manyRows(`INSERT INTO ${table} (${names.join(', ')})`, names.length, rows);
  texts.set(key, made);
  return made;
}

function* parts<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; ) {
    const left = rows.length - at;
    const size = SIZES.find((size) => size <= left) ?? 1;
    yield rows.slice(at, at + size);
    at += size;
  }
}
