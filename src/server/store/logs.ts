import { AuditFault } from './faults.ts';
import type { LogName, LogRow, LogValues, Writing } from './store.ts';
import { writeMessages } from './streamheads.ts';

/**
 * Writes rows of logs, those of the audit log as `writeEntries` does. The heads of streams, and on SQLite that of the audit
 * log, stay locked from here to the end of the transaction, so nothing becomes visible above a number that is still to come:
 * call it as late as the store can.
 */
export async function writeLogs(
  tx: Writing,
  rows: readonly LogRow[],
  writeEntries: (tx: Writing, entries: readonly LogValues[]) => Promise<void>,
): Promise<void> {
  const of = (name: LogName) => rows.filter((row) => row.log === name).map((row) => row.values);
  const [messages, entries] = [of('stream'), of('audit')];
  // What failed first is why the statements after it failed: a database replies in order.
  const failures: unknown[] = [];
  // Heads of streams are always locked first, so that two transactions cannot wait for each other; neither log waits for
  // the replies to the other's statements. Both have ended before anybody ends the transaction, whatever becomes of them.
  await Promise.all([
    messages.length > 0 && writeMessages(tx, messages).catch((error) => failures.push(error)),
    entries.length > 0 && writeEntries(tx, entries).catch((error) => failures.push(faultOf(error))),
  ]);
  if (failures.length > 0) throw failures[0];
}

/** Faults of statements, which have a code or a state; others are for the store that runs them. */
function faultOf(error: unknown): unknown {
  return error instanceof Error && ('code' in error || 'state' in error) ? new AuditFault(error) : error;
}
