import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import type Database from 'better-sqlite3';
import { StoreUnusable } from '../store.ts';

export type Connection = Database.Database;
type Constructor = new (file: string, options?: Database.Options) => Connection;

/** Loads the native driver, or says how to get it: client commands work without it. */
function driver(): Constructor {
  const require = createRequire(import.meta.url);
  try {
    return require('better-sqlite3') as Constructor;
  } catch (cause) {
    throw driverMissing(cause);
  }
}

function driverMissing(cause: unknown): StoreUnusable {
  return new StoreUnusable(
    'The SQLite driver (better-sqlite3) is not installed, or was not built for this Node.',
    'Run "npm rebuild better-sqlite3" in the folder of molar; it needs python3, make and a C++ compiler.',
    cause,
  );
}

/** The driver loads its native part when the first database is opened. */
export function isDriverFault(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  return (cause as NodeJS.ErrnoException).code === 'ERR_DLOPEN_FAILED' || /bindings file/.test(cause.message);
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

/** Opens a database file with the settings every connection needs; the caller closes it. */
export function openConnection(file: string, options: { readonly readonly?: boolean } = {}): Connection {
  const Driver = driver();
  const connection = connect(Driver, file, options);
  const { version } = connection.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  if (!isSafeVersion(version)) {
    connection.close();
    throw new StoreUnusable(
      `SQLite ${version} can lose committed writes in WAL mode (fixed in 3.51.3).`,
      'Install better-sqlite3 12.11.1, which brings a safe version.',
    );
  }
  try {
    connection.pragma('synchronous = FULL');
    connection.pragma('foreign_keys = OFF');
    connection.pragma('temp_store = FILE');
    connection.pragma('cache_size = -16000');
  } catch (error) {
    connection.close();
    throw error;
  }
  return connection;
}

function connect(Driver: Constructor, file: string, options: { readonly readonly?: boolean }): Connection {
  try {
    // Its journals take over the permissions of the file, so they are set before the driver makes it.
    if (options.readonly !== true) closeSync(openSync(file, 'a', 0o600));
    // Waiting inside the driver would block the event loop: writers wait outside (see writer.ts).
    return new Driver(file, { readonly: options.readonly ?? false, timeout: 0 });
  } catch (cause) {
    if (cause instanceof StoreUnusable) throw cause;
    if (isDriverFault(cause)) throw driverMissing(cause);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StoreUnusable(
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
