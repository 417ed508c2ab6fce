import type { Client } from 'pg';
import { localFailure } from '../../failure.ts';
import type { LockOwner } from '../../lockfile.ts';
import type { MirrorEngine } from '../engine.ts';
import type { DatabasePlace } from '../place.ts';
import { readContents } from '../sql/reading.ts';
import { SqlMirror } from '../sql/sqlmirror.ts';
import { connect, lookIn, type MirrorConnection, postgresFailure } from './connection.ts';
import { MIRROR_PARSERS, PostgresDatabase } from './database.ts';
import { holderIn, takeLock } from './lock.ts';

/** Mirrors in PostgreSQL: the lock is one of the session that writes, and is gone with it. */
export const POSTGRES_ENGINE: MirrorEngine<DatabasePlace> = {
  read: (place, work) => onConnection(place, (connection) => ofMirror(place, connection, work)),
  async hold(place, command, owner) {
    const connection = await connect(place, MIRROR_PARSERS);
    const { client } = connection;
    const release = async () => {
      await client.end().catch(() => undefined);
    };
    try {
      const schema = connection.schema ?? (await makeSchema(place, client));
      await takeLock(client, { schema, name: place.name, command, owner });
      const database = new PostgresDatabase(place.name, client, schema);
      return {
        release,
        read: () => ofMirror(place, { client, schema }, readContents),
        open: (facts, options) => SqlMirror.open(database, facts, options),
        remove: () => database.remove(),
      };
    } catch (cause) {
      await release();
      throw postgresFailure(cause, place.name);
    }
  },
  holder: (place, owner: LockOwner) =>
    onConnection(place, async ({ client, schema }) => {
      const holder = schema === undefined ? undefined : await holderIn(client, schema, owner);
      if (holder === undefined || holder.isDead) return null;
      return { pid: holder.pid, command: holder.command, since: holder.since };
    }),
};

async function onConnection<T>(place: DatabasePlace, work: (connection: MirrorConnection) => Promise<T>): Promise<T> {
  const connection = await connect(place, MIRROR_PARSERS);
  try {
    return await work(connection);
  } catch (cause) {
    throw postgresFailure(cause, place.name);
  } finally {
    await connection.client.end().catch(() => undefined);
  }
}

/** What `work` reads of the mirror in a schema; undefined where there is none. */
async function ofMirror<T>(
  { name }: DatabasePlace,
  { client, schema }: MirrorConnection,
  work: (database: PostgresDatabase) => Promise<T>,
): Promise<T | undefined> {
  if (schema === undefined) return undefined;
  const database = new PostgresDatabase(name, client, schema);
  return (await database.form()) === undefined ? undefined : work(database);
}

/** Makes the schema that an address names. Throws a Failure where there is none to be made. */
async function makeSchema({ name, schema }: DatabasePlace, client: Client): Promise<string> {
  if (schema === undefined) {
    throw localFailure('mirror.unusable', `The database of ${name} has no schema that tables could be made in.`, {
      hint: 'Name one: add ?schema=NAME to the address. It is made where it is missing.',
    });
  }
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${client.escapeIdentifier(schema)}`);
  await lookIn(client, schema);
  return schema;
}
