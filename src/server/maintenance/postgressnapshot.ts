import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import sql from 'sql-template-tag';
import { readAddress } from '../../postgres/address.ts';
import { loadDriver } from '../../postgres/driver.ts';
import { StoreFault } from '../store/faults.ts';
import { makePool } from '../store/postgres/pool.ts';
import { connectionOf } from '../store/postgres/statements.ts';
import { refusePooler, unusable } from '../store/postgres/unusable.ts';
import { type Reader, StoreUnusable } from '../store/store.ts';
import type { Snapshot } from './snapshot.ts';

/** What connections of maintenance are called besides, so that they are not taken for those of a server. */
const MAINTENANCE = 'maintenance';

interface PostgresSource {
  /** Host, port and database. */
  readonly name: string;
  /** What is committed now. */
  readonly live: Reader;
  snapshot(): Promise<Snapshot>;
  /** Keeps everybody from writing until the function returned is called. Throws `StoreUnusable` when somebody is. */
  hold(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** Connects to a database for reading only: its schema is left as it is. Throws `StoreUnusable`. */
export async function openPostgresSource(url: string): Promise<PostgresSource> {
  const address = readAddress(named(url));
  const pool = makePool(await loadDriver(), address, 3, '');
  const connect = () =>
    pool.connect().catch((error: unknown) => {
      throw unusable(error, address.name);
    });
  const begin = async () => {
    if (address.sessions) await refusePooler([pool, pool], address.name);
    return connect();
  };
  const looking = await begin().catch(async (error: unknown) => {
    await pool.end();
    throw unusable(error, address.name);
  });
  return {
    name: address.name,
    live: readerOf(connectionOf(looking, address.sessions)),
    async snapshot() {
      const client = await connect();
      const connection = connectionOf(client, address.sessions);
      await connection.command(
        'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0',
      );
      return {
        dialect: 'postgres',
        read: readerOf(connection),
        close: () => endOf(client, connection),
      };
    },
    async hold() {
      const client = await connect();
      const connection = connectionOf(client, address.sessions);
      const release = () => endOf(client, connection);
      try {
        await connection.command(HOLD);
        return release;
      } catch (cause) {
        await release();
        throw cause instanceof StoreFault && cause.code === 'STORE_TIMEOUT' ? isWrittenTo(address.name) : cause;
      }
    },
    async close() {
      looking.release(true);
      await pool.end();
    },
  };
}

/** Ends a transaction, and then its connection: of one that is only closed, the locks stay for a moment longer. */
async function endOf(client: PoolClient, connection: Connection): Promise<void> {
  await connection.command('ROLLBACK').catch(() => {});
  client.release(true);
}

/** Every write of records is noted in the logs, and those of tokens and settings change their own tables. */
const HOLD = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0;
  LOCK TABLE organizations, stream_heads, log_heads, audit_entries, access_tokens, api_clients, settings IN EXCLUSIVE MODE NOWAIT`;

/** Somebody writes to what is to be copied. */
export function isWrittenTo(name: string): StoreUnusable {
  return new StoreUnusable(`${name} is being written to.`, 'Wait until the import has ended, then run it again.');
}

type Connection = ReturnType<typeof connectionOf>;

function readerOf(connection: Connection): Reader {
  return {
    all: async <T extends object>(statement: Parameters<Connection['run']>[0]) =>
      (await connection.run(statement)).rows as T[],
    get: async <T extends object>(statement: Parameters<Connection['run']>[0]) =>
      (await connection.run(statement)).rows[0] as T | undefined,
  };
}

/** The address with a name for the connections that is not the name of a server's. */
function named(url: string): string {
  if (!URL.canParse(url)) return url;
  const address = new URL(url);
  address.searchParams.set('application_name', `${applicationOf(address)} ${MAINTENANCE}`);
  return address.href;
}

/** What the connections of a server with this address are called. */
function applicationOf(address: URL): string {
  return address.searchParams.get('application_name') ?? 'molar';
}

/** How often connections of a server are looked for: PostgreSQL lists one that was closed for a moment longer. */
const LOOKS = 10;

/** Between two looks, milliseconds. */
const LOOK_MS = 100;

/** Whether a server is connected to the database, as far as its user may see: one that was given the same address. */
export async function isDatabaseServed(read: Reader, url: string): Promise<boolean> {
  for (let look = 1; ; look++) {
    const row = await read.get<{ found: number }>(
      sql`SELECT COUNT(*) AS found FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = ${applicationOf(new URL(url))}`,
    );
    if ((row?.found ?? 0) === 0) return false;
    if (look === LOOKS) return true;
    await sleep(LOOK_MS);
  }
}
