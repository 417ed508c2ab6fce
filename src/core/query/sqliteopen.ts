import { type Connection, openConnection } from '../../sqlite/open.ts';
import { readFacts } from '../mirror/sql/state.ts';
import { openToRead, PATIENCE } from '../mirror/sqlite/connection.ts';
import { SqliteDatabase } from '../mirror/sqlite/database.ts';
import type { MirrorFacts } from '../mirror/store.ts';
import { QueryFault } from './fault.ts';
import type { MirroredTable } from './mirrortables.ts';
import { openingFault } from './sqlitefault.ts';

/** Opens a database file that nothing is written to. Throws a QueryFault. */
export function openReadOnly(file: string): Connection {
  let connection: Connection | undefined;
  try {
    connection = openConnection(file, { readonly: true, timeout: PATIENCE });
    connection.pragma('query_only = ON');
    // One of another program, or of a newer molar, is refused by what its header says.
    if (connection.pragma('application_id', { simple: true }) !== 0) openToRead(file)?.close();
    return connection;
  } catch (cause) {
    connection?.close();
    throw openingFault(cause, file);
  }
}

/** The rows of `_mirror`. Throws a QueryFault where there is no such table: the file is empty, or no mirror. */
export function mirroredTables(connection: Connection): MirroredTable[] {
  const names = connection.prepare('SELECT name FROM sqlite_schema').pluck().all();
  if (names.length === 0) throw new QueryFault({ kind: 'missing', message: `${connection.name} is empty` });
  if (!names.includes('_mirror')) throw new QueryFault({ kind: 'mirror', message: `${connection.name} is no mirror` });
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

/** What a mirror was made with; undefined where its file does not say. */
export async function mirrorFacts(connection: Connection): Promise<MirrorFacts | undefined> {
  const isThere = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = '_facts'").get() !== undefined;
  return isThere ? (await readFacts(SqliteDatabase.over(connection))).facts : undefined;
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
