import { type Connection, openConnection } from '../../sqlite/open.ts';
import type { MirroredTable } from './mirrortables.ts';
import { openingFault } from './sqlitefault.ts';

/** Milliseconds to wait for another process that holds the whole file for a moment. */
const PATIENCE_MS = 5000;

/** Opens a database file that nothing is written to. Throws a QueryFault. */
export function openReadOnly(file: string): Connection {
  let connection: Connection | undefined;
  try {
    connection = openConnection(file, { readonly: true });
    connection.pragma(`busy_timeout = ${PATIENCE_MS}`);
    connection.pragma('query_only = ON');
    // The first thing that reads the file.
    connection.prepare('SELECT count(*) FROM sqlite_schema').get();
    return connection;
  } catch (cause) {
    connection?.close();
    throw openingFault(cause, file);
  }
}

/** The rows of `_mirror`; undefined where there is no such table, so that the file is no mirror. */
export function mirroredTables(connection: Connection): MirroredTable[] | undefined {
  const has = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = '_mirror'").get() !== undefined;
  if (!has) return undefined;
  const rows = connection.prepare('SELECT * FROM _mirror').all() as Record<string, unknown>[];
  return rows.map((row) => ({
    resource: String(row.resource),
    tableName: String(row.table_name),
    organization: String(row.organization),
    url: String(row.url),
    complete: Boolean(row.complete),
    asOf: textOf(row.as_of),
    unavailable: textOf(row.unavailable),
  }));
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
