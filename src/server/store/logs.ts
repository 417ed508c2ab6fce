import { hash } from 'node:crypto';
import sql, { raw } from 'sql-template-tag';
import { AuditFault } from './faults.ts';
import { type IndexedEntry, indexPatients } from './patientindex.ts';
import { bound, manyRows, statement, type Texts } from './statement.ts';
import type { LogName, LogRow, LogValues, Reader, Statement } from './store.ts';
import { writeMessages } from './streamheads.ts';

const FIRST_AUDIT_COLUMNS = [
  ...['org', 'at', 'who', 'address', 'request_id', 'operation', 'ids', 'record_count', 'filter_keys'],
] as const;

export const LOGS: { readonly audit: { readonly columns: readonly string[] } } = {
  audit: {
    columns: [
      ...FIRST_AUDIT_COLUMNS,
      // Columns added later. Entries that have none of them keep the hash that they were written with.
      ...['patients', 'via', 'status', 'client', 'covers_all'],
    ],
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
 * Numbers rows and writes them. The heads of logs stay locked from here to the end of the transaction, so nothing
 * becomes visible above a number that is still to come: call it as late as the store can.
 */
export async function writeLogs(tx: Writing, rows: readonly LogRow[]): Promise<void> {
  const of = (name: LogName) => rows.filter(({ log }) => log === name).map(({ values }) => values);
  const [messages, entries] = [of('stream'), of('audit')];
  // Heads of streams are always locked first, so that two transactions cannot wait for each other; neither log waits for
  // the replies to the other's statements. Both have ended before anybody ends the transaction, whatever becomes of them.
  const written = await Promise.allSettled([
    messages.length > 0 && writeMessages(tx, messages),
    entries.length > 0 && writeEntries(tx, entries).catch(rethrowFault),
  ]);
  for (const each of written) if (each.status === 'rejected') throw each.reason;
}

/** Faults of statements, which have a code or a state; others are for the store that runs them. */
function rethrowFault(error: unknown): never {
  throw error instanceof Error && ('code' in error || 'state' in error) ? new AuditFault(error) : error;
}

async function writeEntries(tx: Writing, rows: readonly LogValues[]): Promise<void> {
  const head = await tx.get<{ last_id: number; hash: string; top: number | null }>(
    statement`UPDATE log_heads SET last_id = last_id + ${rows.length} WHERE name = 'audit'
      RETURNING last_id, hash, (SELECT MAX(id) FROM audit_entries) AS top`,
  );
  if (head === undefined) throw new Error('The audit log has no head.');
  let id = head.last_id - rows.length;
  if ((head.top ?? 0) > id) await moveStrays(tx, id, head.last_id);
  let last = head.hash;
  for (const part of parts(rows)) {
    const written: (string | number | null)[] = [];
    for (const values of part) {
      last = chainHash(last, ++id, values);
      written.push(id, ...values, last);
    }
    await tx.run(bound(insertTexts(part.length), written));
  }
  await tx.run(statement`UPDATE log_heads SET hash = ${last} WHERE name = 'audit'`);
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

const texts = new Map<number, Texts>();

/** The statement that writes so many entries, made once. */
function insertTexts(rows: number): Texts {
  const known = texts.get(rows);
  if (known !== undefined) return known;
  const names = ['id', ...LOGS.audit.columns, 'hash'];
  const made = manyRows(`INSERT INTO audit_entries (${names.join(', ')})`, names.length, rows);
  texts.set(rows, made);
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
