import sql from 'sql-template-tag';
import type { Store, Transaction } from '../store/store.ts';
import type { Files } from './files.ts';

/** Notes, inside the transaction that deletes a record, which files go with it. */
export async function scheduleRemoval(tx: Transaction, names: readonly string[]): Promise<void> {
  for (const name of names) await tx.run(sql`INSERT INTO file_removals (name) VALUES (${name}) ON CONFLICT DO NOTHING`);
}

/** Removes files whose records are gone. Safe to repeat. */
export async function removeScheduled(store: Store, files: Files, names: readonly string[]): Promise<void> {
  for (const name of names) await files.remove(name);
  await store.write(async (tx) => {
    for (const name of names) await tx.run(sql`DELETE FROM file_removals WHERE name = ${name}`);
  });
}

/** Ends what a process that was killed left undone: keeps staged files that a record names, drops the others, finishes removals. */
export async function recoverFiles(store: Store, files: Files): Promise<void> {
  for (const name of await files.leftovers()) {
    const guid = name.slice(0, name.lastIndexOf('-'));
    const owner = await store.read.get(sql`SELECT 1 AS found FROM documents WHERE guid = ${guid}`);
    if (owner === undefined) await files.remove(name);
    else await files.keep(name);
  }
  const removals = await store.read.all<{ name: string }>(sql`SELECT name FROM file_removals`);
  if (removals.length > 0)
    await removeScheduled(
      store,
      files,
      removals.map((row) => row.name),
    );
}
