import sql from 'sql-template-tag';
import type { Store, Transaction } from '../store/store.ts';
import { type Files, FilesUnavailable } from './files.ts';

/** Records, inside the transaction that deletes a record, which files have to be removed with it. */
export async function scheduleRemoval(tx: Transaction, names: readonly string[]): Promise<void> {
  for (const name of names) await tx.run(sql`INSERT INTO file_removals (name) VALUES (${name}) ON CONFLICT DO NOTHING`);
}

/** Removes files whose records are gone. Safe to repeat; what cannot be removed while the storage is away stays scheduled. */
export async function removeScheduled(store: Store, files: Files, names: readonly string[]): Promise<void> {
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

/** Finishes what a killed process left undone: settles staged files, completes removals. */
export async function recoverFiles(store: Store, files: Files): Promise<void> {
  await settleStaged(store, files, await files.leftovers());
  await finishRemovals(store, files);
}

/** Removes what could not be removed when its record was. */
export async function finishRemovals(store: Store, files: Files): Promise<void> {
  const rows = await store.read.all<{ name: string }>(sql`SELECT name FROM file_removals`);
  const names = rows.map(({ name }) => name);
  if (names.length > 0) await removeScheduled(store, files, names);
}
