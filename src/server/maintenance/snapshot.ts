import { existsSync } from 'node:fs';
import { join } from 'node:path';
import sql from 'sql-template-tag';
import { removeFile } from '../../filesystem/durable.ts';
import { type Connection, openConnection } from '../../sqlite/open.ts';
import type { Dialect } from '../store/migrations/dialects.ts';
import { hasTable } from '../store/schema/introspection.ts';
import { Statements } from '../store/sqlite/statements.ts';
import { type Reader, StoreUnusable } from '../store/store.ts';

/** The database of a data folder. */
export const DATABASE = 'molar.sqlite';

export interface SqliteSnapshot extends Snapshot {
  readonly connection: Connection;
}

/**
 * Opens the database of a data folder for reading, as it is now; a server may go on writing. While it is open the
 * journal cannot be cut back, so it should not stay open for long. Throws `StoreUnusable`.
 */
export async function openSqliteSnapshot(folder: string): Promise<SqliteSnapshot> {
  const file = join(folder, DATABASE);
  if (!existsSync(file)) {
    throw new StoreUnusable(
      `There is no database ${file}.`,
      'Name the folder that molar serve keeps its data in, or a backup.',
    );
  }
  const connection = openConnection(file, { readonly: true });
  try {
    connection.exec('BEGIN');
    // The first statement that reads is what fixes the state.
    connection.prepare('SELECT COUNT(*) FROM sqlite_master').get();
  } catch (cause) {
    connection.close();
    throw unreadable(file, cause);
  }
  const statements = new Statements(connection);
  return {
    dialect: 'sqlite',
    connection,
    read: {
      all: async (statement) => statements.all(statement),
      get: async (statement) => statements.get(statement),
    },
    async close() {
      connection.close();
    },
  };
}

/** Removes the database of a folder that is being filled, with its journals: one of them would spoil another database. */
export async function removeDatabase(folder: string): Promise<void> {
  for (const end of ['', '-wal', '-shm', '-journal']) await removeFile(join(folder, `${DATABASE}${end}`));
}

function unreadable(file: string, cause: unknown): StoreUnusable {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new StoreUnusable(
    `The database ${file} cannot be read: ${reason}.`,
    'Restore the last backup with molar server restore.',
    cause,
  );
}

/** One unchanging state of a store, whatever is written meanwhile: for work that has to agree with itself. */
export interface Snapshot {
  readonly dialect: Dialect;
  readonly read: Reader;
  close(): Promise<void>;
}

/** Refuses a state in which a part of an import is published: what is left of it would not come along. Throws `StoreUnusable`. */
export async function refuseImporting({ read, dialect }: Snapshot, name: string): Promise<void> {
  // An earlier molar has no such table.
  if (!(await hasTable(read, dialect, 'imports'))) return;
  if ((await read.get(sql`SELECT 1 AS found FROM imports LIMIT 1`)) === undefined) return;
  throw new StoreUnusable(
    `${name} has an import that is published in part.`,
    'Run it again when the import has ended; one whose process was killed is ended by the server, or by the next import.',
  );
}
