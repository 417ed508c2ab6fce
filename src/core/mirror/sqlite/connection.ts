import { existsSync, statSync } from 'node:fs';
import { closeFile } from '../../../filesystem/private.ts';
import { type Connection, openConnection, SqliteUnusable } from '../../../sqlite/open.ts';
import { localFailure } from '../../failure.ts';

/** What the header of a mirror says it is (`PRAGMA application_id`), and the form of its tables (`PRAGMA user_version`). */
const APPLICATION = 0x6d6f6c72;
const VERSION = 1;

/** Bytes of a page. Indexes are made in three quarters of the time that half of it takes. */
const PAGE = 32 * 1024;

/** Bytes of pages that are kept in memory, and that are written to the log before they go into the file. */
const MEMORY = 8 * 1024 * 1024;

/** Milliseconds that a reader waits: a sync that ends holds the whole file for a moment. */
export const PATIENCE = 5000;

/** Opens the database of a mirror to write, and makes one where there is none: 0600. Throws a Failure with exit code 9. */
export async function openToWrite(file: string): Promise<Connection> {
  // Looked at before anything can be written, so that another file stays as it is.
  if (existsSync(file)) openToRead(file)?.close();
  const connection = guarded(file, () => openConnection(file));
  try {
    await closeFile(file);
    return guarded(file, () => {
      // Of a new file: rows have a kilobyte or two, and indexes are made by reading all of them.
      connection.pragma(`page_size = ${PAGE}`);
      connection.pragma('journal_mode = WAL');
      connection.pragma(`wal_autocheckpoint = ${MEMORY / PAGE}`);
      connection.pragma(`cache_size = ${-MEMORY / 1024}`);
      // A power cut costs the last commits, never the file: they are synced again.
      connection.pragma('synchronous = NORMAL');
      return connection;
    });
  } catch (cause) {
    connection.close();
    throw cause;
  }
}

/** Makes a database without tables a mirror. */
export function markAsMirror(connection: Connection): void {
  connection.pragma(`application_id = ${APPLICATION}`);
  connection.pragma(`user_version = ${VERSION}`);
}

/**
 * Opens the database of a mirror to read; the file must be there. Undefined for one without tables, which a sync left
 * that was killed at once. Throws a Failure with exit code 9 for what is no mirror.
 */
export function openToRead(file: string): Connection | undefined {
  if (statSync(file).size === 0) return undefined;
  const connection = guarded(file, () => openConnection(file, { readonly: true, timeout: PATIENCE }));
  try {
    const [application, version, isEmpty] = guarded(file, () => [
      connection.pragma('application_id', { simple: true }),
      connection.pragma('user_version', { simple: true }),
      connection.prepare('SELECT 1 FROM sqlite_master LIMIT 1').get() === undefined,
    ]);
    if (isEmpty) {
      connection.close();
      return undefined;
    }
    if (application !== APPLICATION) throw notAMirror(file, 'is no mirror');
    if (typeof version !== 'number' || version > VERSION)
      throw notAMirror(file, 'is a mirror of a newer version of molar');
    return connection;
  } catch (cause) {
    connection.close();
    throw cause;
  }
}

function notAMirror(file: string, what: string) {
  return localFailure('local.file', `${file} ${what}.`, {
    source: file,
    hint: 'It was left as it is. Name another file with --to.',
  });
}

/** Runs what touches a database; what the driver throws becomes a Failure with exit code 9. */
export function guarded<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof SqliteUnusable) throw localFailure('local.file', cause.message, { hint: cause.next, cause });
    const code = (cause as { code?: unknown } | null)?.code;
    if (code === 'SQLITE_NOTADB') throw notAMirror(file, 'is no database');
    if (typeof code === 'string' && code.startsWith('SQLITE_'))
      throw localFailure('local.file', `Cannot use ${file}: ${(cause as Error).message}.`, { source: file, cause });
    throw cause;
  }
}
