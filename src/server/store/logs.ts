import sql, { raw, type Sql } from 'sql-template-tag';
import { AuditFault } from './faults.ts';
import { insertStatements, statement } from './statement.ts';
import type { LogName, LogRow, LogValues, Reader, Statement } from './store.ts';
import { allotNumbers, numbersFor } from './streamheads.ts';

/** The stream's log. */
export const STREAM_LOG = {
  table: 'stream_messages',
  columns: [
    ...['org', 'routing_key', 'sent_at', 'correlation_id', 'payload', 'places', 'record'],
    ...['record_id', 'patient_id'],
  ],
} as const;

interface Writing extends Reader {
  run(statement: Statement): Promise<number>;
}

/**
 * Writes rows of logs, those of the audit log as `writeEntries` does. Messages are numbered, and the head of their log
 * stays locked from here to the end of the transaction, so nothing becomes visible above a number that is still to come:
 * call it as late as the store can.
 */
export async function writeLogs(
  tx: Writing,
  rows: readonly LogRow[],
  writeEntries: (tx: Writing, entries: readonly LogValues[]) => Promise<void>,
): Promise<void> {
  const of = (name: LogName) => rows.filter((row) => row.log === name).map((row) => row.values);
  // Always in this order, so that two transactions cannot wait for each other.
  const [messages, entries] = [of('stream'), of('audit')];
  if (messages.length > 0) await writeMessages(tx, messages);
  if (entries.length > 0) await writeEntries(tx, entries).catch(rethrowFault);
}

/** Faults of statements, which have a code or a state; others are for the store that runs them. */
function rethrowFault(error: unknown): never {
  throw error instanceof Error && ('code' in error || 'state' in error) ? new AuditFault(error) : error;
}

async function writeMessages(tx: Writing, rows: readonly LogValues[]): Promise<void> {
  const { table, columns } = STREAM_LOG;
  const head = await tx.get<{ last_id: number }>(
    statement`UPDATE log_heads SET last_id = last_id + ${rows.length} WHERE name = 'stream' RETURNING last_id`,
  );
  if (head === undefined) throw new Error('The log stream has no head.');
  const first = head.last_id - rows.length + 1;
  const numberOf = await numbersFor(
    tx,
    rows.map(([org]) => Number(org)),
  );
  const numbered = rows.map((values, index) => [first + index, ...values, numberOf(Number(values[0]))]);
  const inserts = insertStatements(`INSERT INTO ${table} (id, ${columns.join(', ')}, seq)`, numbered);
  for (const insert of inserts) await tx.run(insert);
}

/** Numbers the rows that a statement selects, and writes them to the stream's log (`Transaction.appendSelected`). */
export async function writeSelected(tx: Writing, org: number, select: Sql, rows: number): Promise<void> {
  const { table, columns } = STREAM_LOG;
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
