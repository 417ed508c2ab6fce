import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import type Database from 'better-sqlite3';

/** A database that cannot be opened, or a driver that is missing; `next` says what to do. */
export class SqliteUnusable extends Error {
  constructor(
    message: string,
    readonly next: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'SqliteUnusable';
  }
}

/** Loads the native driver, or says how to get it: client commands work without it. */
function driver(): Constructor {
  try {
    return loadDriver();
  } catch (cause) {
    throw driverMissing(cause);
  }
}

function driverMissing(cause: unknown): SqliteUnusable {
  const name = sqlitePackage(process.version);
  const next =
    name === 'better-sqlite3'
      ? 'Run "npm rebuild better-sqlite3" in the folder of molar; it needs python3, make and a C++ compiler. With Node 22.14 or newer none is needed.'
      : 'Install molar again with its optional packages and with this Node; where that does not help, use PostgreSQL.';
  return new SqliteUnusable(`The SQLite driver (${name}) is not installed, or does not fit this Node.`, next, cause);
}

/** First release without the WAL-reset bug that can lose committed writes, and its backports. */
const FIXED = [3, 51, 3] as const;
const BACKPORTS = ['3.44.6', '3.50.7'];

/** Whether a SQLite version keeps committed writes in WAL mode. */
export function isSafeVersion(version: string): boolean {
  const parts = version.split('.').map(Number);
  for (const [index, fixed] of FIXED.entries()) {
    const part = parts[index] ?? 0;
    if (part !== fixed) return part > fixed || BACKPORTS.includes(version);
  }
  return true;
}

/** How a database file is opened. */
interface Opening {
  readonly readonly?: boolean;
  /** Milliseconds to wait, with the event loop blocked, for another process that holds the file; 0 where absent. */
  readonly timeout?: number;
}

/** Opens a database file with the settings every connection needs; the caller closes it. Throws `SqliteUnusable`. */
export function openConnection(file: string, options: Opening = {}): Connection {
  const Driver = driver();
  const connection = connect(Driver, file, options);
  try {
    // The first statement reads the header: the file may be no database, or another process may hold it.
    const { version } = connection.prepare('SELECT sqlite_version() AS version').get() as { version: string };
    if (!isSafeVersion(version)) {
      throw new SqliteUnusable(
        `SQLite ${version} can lose committed writes in WAL mode (fixed in 3.51.3).`,
        'Install molar again: its own package brings a safe version.',
      );
    }
    connection.pragma('synchronous = FULL');
    connection.pragma('foreign_keys = OFF');
    connection.pragma('temp_store = FILE');
    connection.pragma('cache_size = -16000');
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function connect(Driver: Constructor, file: string, { readonly = false, timeout = 0 }: Opening): Connection {
  try {
    // Its journals take over the permissions of the file, so they are set before the driver makes it.
    if (!readonly) closeSync(openSync(file, 'a', 0o600));
    // Waiting inside the driver blocks the event loop: writers wait outside.
    return new Driver(file, { readonly, timeout });
  } catch (cause) {
    if (cause instanceof SqliteUnusable) throw cause;
    if (isDriverFault(cause)) throw driverMissing(cause);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SqliteUnusable(
      `The database ${file} cannot be opened: ${reason}.`,
      'Check the folder and its permissions.',
      cause,
    );
  }
}

export function isBusy(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && code.startsWith('SQLITE_BUSY');
}

export type Connection = Database.Database;
export type Constructor = new (file: string, options?: Database.Options) => Connection;

/**
 * The package that brings SQLite to a version of Node, such as `v24.21.0`. better-sqlite3 has two lines, and no Node can
 * do without the right one: 13 is made with Node-API, which crashes Node before 22.14; 12 is made with an older
 * interface, which lets Node from 24.19 on crash when a statement is forgotten. 13 needs no compiler.
 */
export function sqlitePackage(version: string): 'better-sqlite3' | 'better-sqlite3-node-api' {
  const [major = 0, minor = 0] = version.slice(1).split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 14) ? 'better-sqlite3-node-api' : 'better-sqlite3';
}

/** The native driver of this Node. Throws what Node says when the package is missing. */
export function loadDriver(): Constructor {
  return createRequire(import.meta.url)(sqlitePackage(process.version)) as Constructor;
}

/** Whether a failure means that the driver cannot be used: it loads its native part with the first database. */
export function isDriverFault(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  const { code } = cause as NodeJS.ErrnoException;
  return code === 'ERR_DLOPEN_FAILED' || code === 'MODULE_NOT_FOUND' || /bindings file/.test(cause.message);
}
