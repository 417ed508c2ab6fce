import sql from 'sql-template-tag';
import type { Service } from '../service.ts';
import type { Store, Transaction } from '../store/store.ts';
import { DAY_MS } from '../stream/stream.ts';
import { type Files, FilesUnavailable } from './files.ts';

/**
 * Days that files of deleted documents are kept beside a database that can be recovered to a time within them; beside one
 * in a folder, whose backups hold the files, none.
 */
export const DEFAULT_FILE_RETENTION_DAYS = 7;

/** Files read from the table at once. */
const PAGE = 500;

/** Records, inside the transaction that deletes a record, until when its files are kept. */
export async function scheduleRemoval(
  tx: Transaction,
  { clock, fileRetentionDays }: Pick<Service, 'clock' | 'fileRetentionDays'>,
  names: readonly string[],
): Promise<void> {
  const due = fileRetentionDays === 0 ? '' : new Date(clock() + fileRetentionDays * DAY_MS).toISOString();
  for (const name of names) {
    await tx.run(sql`INSERT INTO file_removals (name, due_at) VALUES (${name}, ${due}) ON CONFLICT DO NOTHING`);
  }
}

/** Removes the files of records that are gone, unless they are kept for some time. */
export async function removeUnlessKept(
  { store, files, fileRetentionDays }: Pick<Service, 'store' | 'files' | 'fileRetentionDays'>,
  names: readonly string[],
): Promise<void> {
  // A part of an import seldom has any: to write nothing would cost a transaction.
  if (fileRetentionDays === 0 && names.length > 0) await removeScheduled(store, files, names);
}

/**
 * Removes files whose records are gone; false when the storage is away, and what could not be removed stays scheduled.
 * Safe to repeat.
 */
export async function removeScheduled(store: Store, files: Files, names: readonly string[]): Promise<boolean> {
  const removed: string[] = [];
  for (const name of names) {
    try {
      await files.remove(name);
    } catch (error) {
      if (error instanceof FilesUnavailable) break;
      throw error;
    }
    removed.push(name);
  }
  await store.write(async (tx) => {
    for (const name of removed) await tx.run(sql`DELETE FROM file_removals WHERE name = ${name}`);
  });
  return removed.length === names.length;
}

/** Ends the staging of files as the records say: finalizes those that a record names, drops the others. */
export async function settleStaged(store: Store, files: Files, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const guid = name.slice(0, name.lastIndexOf('-'));
    const owner = await store.read.get(sql`SELECT 1 AS found FROM documents WHERE guid = ${guid}`);
    if (owner === undefined) await files.discard(name);
    else await files.finalize(name);
  }
}

/** Finishes what a killed process left undone: settles staged files, completes removals that are due at `now`. */
export async function recoverFiles(store: Store, files: Files, now: number): Promise<void> {
  await settleStaged(store, files, await files.leftovers());
  await removeDue(store, files, now);
}

/** Removes files that have been kept long enough, and those that could not be removed when their records were. */
export async function removeDue(store: Store, files: Files, now: number): Promise<void> {
  const due = new Date(now).toISOString();
  for (let goesOn = true; goesOn; ) {
    const rows = await store.read.all<{ name: string }>(
      sql`SELECT name FROM file_removals WHERE due_at <= ${due} ORDER BY due_at LIMIT ${PAGE}`,
    );
    const names = rows.map(({ name }) => name);
    goesOn = names.length > 0 && (await removeScheduled(store, files, names));
  }
}
