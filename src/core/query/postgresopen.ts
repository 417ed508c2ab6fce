import type { Client } from 'pg';
import type { DatabasePlace } from '../mirror/place.ts';
import { connect, postgresFailure } from '../mirror/postgres/connection.ts';
import { MIRROR_PARSERS, PostgresDatabase } from '../mirror/postgres/database.ts';
import { QueryFault } from './fault.ts';
import type { MirroredTable } from './mirrortables.ts';

/** A mirror that is read as it is at one moment. */
export interface PostgresReading {
  readonly client: Client;
  readonly database: PostgresDatabase;
  readonly mirrored: readonly MirroredTable[];
}

/**
 * Begins a transaction that only reads, of which the first statement has run. Throws a QueryFault or a Failure. Its
 * connection ends when the signal aborts before it has begun: one that stays would keep the process from ending.
 */
export async function openReading(place: DatabasePlace, signal?: AbortSignal): Promise<PostgresReading> {
  const { client, schema } = await connect(place, MIRROR_PARSERS);
  const end = () => client.end().catch(() => undefined);
  const abort = () => void end();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    signal?.throwIfAborted();
    if (schema === undefined) throw missing(place);
    const database = new PostgresDatabase(place.name, client, schema);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    if ((await database.form()) === undefined) throw missing(place);
    const rows = await database.rows<Readonly<Record<string, unknown>>>('SELECT * FROM _mirror');
    return { client, database, mirrored: rows.map(mirroredTable) };
  } catch (cause) {
    await end();
    throw postgresFailure(cause, place.name);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

function missing({ name }: DatabasePlace): QueryFault {
  return new QueryFault({ kind: 'missing', message: `there is no mirror at ${name}` });
}

function mirroredTable(row: Readonly<Record<string, unknown>>): MirroredTable {
  return {
    resource: String(row.resource),
    tableName: String(row.table_name),
    organization: String(row.organization),
    url: String(row.url),
    complete: Boolean(row.complete),
    asOf: row.as_of == null ? null : String(row.as_of),
    unavailable: row.unavailable == null ? null : String(row.unavailable),
  };
}
