import { join } from 'node:path';
import { syncPath } from '../../../filesystem/durable.ts';
import { createPrivate } from '../../../filesystem/private.ts';
import { openConnection } from '../../../sqlite/open.ts';
import { PROGRAMS, type Program } from '../../store/schema/introspection.ts';
import { Statements } from '../../store/sqlite/statements.ts';
import { openSqliteStore } from '../../store/sqlite/store.ts';
import { StoreUnusable } from '../../store/store.ts';
import { completeCopy, copyDatabase, countTables, type TableCounts } from '../copy/database.ts';
import type { Snapshot } from '../snapshot.ts';
import { DATABASE, openSqliteSnapshot, removeDatabase, type SqliteSnapshot } from '../snapshot.ts';
import type { Work } from '../work.ts';

/** Pages of a SQLite database copied at once: some milliseconds, after which signals are handled. */
const PAGES = 1000;

/**
 * Rows of these tables are of no use in a copy: the files to be removed are not in it, no server runs on it, and keys of
 * download links must not leave the store (D57).
 */
const LEFT_OUT = ['file_removals', 'leases', 'rate_buckets', 'link_keys'];

/**
 * Writes the state of a snapshot to a SQLite database in a folder, whatever store it is of: one file, without journal.
 * Answers the rows of each table, which are those of the snapshot.
 */
export async function writeDatabaseCopy(snapshot: Snapshot, folder: string, work: Work): Promise<TableCounts> {
  const file = join(folder, DATABASE);
  // What an interrupted run left is of another state.
  await removeDatabase(folder);
  if (isSqlite(snapshot)) await copyPages(snapshot, file, work);
  else await copyRows(snapshot, folder, work);
  finish(file);
  const counts = await verifyCounts(snapshot, folder);
  await syncPath(file);
  return counts;
}

function isSqlite(snapshot: Snapshot): snapshot is SqliteSnapshot {
  return snapshot.dialect === 'sqlite';
}

/** SQLite's own backup. The snapshot is open on the connection, so writes meanwhile neither show nor begin it anew. */
async function copyPages({ connection }: SqliteSnapshot, file: string, { progress, signal }: Work): Promise<void> {
  const made = await createPrivate(file);
  await made.close();
  let left: number | undefined;
  await connection.backup(file, {
    progress({ remainingPages }) {
      signal.throwIfAborted();
      progress('Copying pages of the database', left === undefined ? 0 : left - remainingPages);
      left = remainingPages;
      return PAGES;
    },
  });
}

async function copyRows(snapshot: Snapshot, folder: string, work: Work): Promise<void> {
  const store = await openSqliteStore(folder, { serving: false });
  try {
    const target = { store, dialect: 'sqlite', name: join(folder, DATABASE) } as const;
    await copyDatabase(snapshot, target, work);
    await completeCopy(target);
  } finally {
    await store.close();
  }
}

/** Makes one file of it that needs no journal, so that it can be read from a medium that cannot be written. */
function finish(file: string): void {
  const connection = openConnection(file);
  try {
    // Views and triggers that somebody has made are no content, and a restore refuses them.
    for (const { type, name } of new Statements(connection).all<Program>(PROGRAMS)) {
      connection.exec(`DROP ${type} IF EXISTS "${name.replaceAll('"', '""')}"`);
    }
    // Otherwise the deleted keys would still stand in free pages of the file.
    connection.pragma('secure_delete = ON');
    for (const table of LEFT_OUT) {
      const exists = connection.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table);
      if (exists !== undefined) connection.exec(`DELETE FROM ${table}`);
    }
    connection.pragma('journal_mode = DELETE');
  } finally {
    connection.close();
  }
}

async function verifyCounts(snapshot: Snapshot, folder: string): Promise<TableCounts> {
  const expected = await countTables(snapshot);
  const copy = await openSqliteSnapshot(folder);
  try {
    const counts = await countTables(copy);
    for (const [table, rows] of Object.entries(expected)) {
      if (LEFT_OUT.includes(table) || counts[table] === rows) continue;
      throw new StoreUnusable(
        `The copy of the database is not what was copied: ${table} has ${counts[table] ?? 'no'} rows, not ${rows}.`,
        'Run molar server check on the source, and check the disk.',
      );
    }
    return counts;
  } finally {
    await copy.close();
  }
}
