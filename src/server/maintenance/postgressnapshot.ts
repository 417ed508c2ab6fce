import sql from 'sql-template-tag';
import { readAddress } from '../store/postgres/address.ts';
import { loadDriver, makePool } from '../store/postgres/driver.ts';
import { storeFault } from '../store/postgres/faults.ts';
import { connectionOf } from '../store/postgres/statements.ts';
import { type Reader, StoreUnusable } from '../store/store.ts';
import type { Snapshot } from './snapshot.ts';

/** What connections of maintenance are called, so that they are not taken for those of a server. */
const APPLICATION = 'molar maintenance';

export interface PostgresSource {
  /** Host, port and database. */
  readonly name: string;
  /** What is committed now. */
  readonly live: Reader;
  snapshot(): Promise<Snapshot>;
  close(): Promise<void>;
}

/** Connects to a database for reading only: its schema is left as it is. Throws `StoreUnusable`. */
export async function openPostgresSource(url: string): Promise<PostgresSource> {
  const address = readAddress(named(url));
  const pool = makePool(await loadDriver(), address, 2, '');
  const connect = async () => {
    try {
      return await pool.connect();
    } catch (cause) {
      const fault = storeFault(cause);
      const reason = fault instanceof Error ? fault.message : 'It does not answer.';
      await pool.end();
      throw new StoreUnusable(
        `The database ${address.name} cannot be used. ${reason}`,
        'Check the address, the user and the password, and that it runs.',
        cause,
      );
    }
  };
  const looking = await connect();
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
        async close() {
          await connection.command('ROLLBACK').catch(() => {});
          client.release(true);
        },
      };
    },
    async close() {
      looking.release(true);
      await pool.end();
    },
  };
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

/** Names the connections, unless the address does. */
function named(url: string): string {
  if (!URL.canParse(url)) return url;
  const address = new URL(url);
  if (!address.searchParams.has('application_name')) address.searchParams.set('application_name', APPLICATION);
  return address.href;
}

/** Whether a server is connected to the database, as far as its user may see. */
export async function isDatabaseServed(read: Reader): Promise<boolean> {
  const row = await read.get<{ found: number }>(
    sql`SELECT COUNT(*) AS found FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'molar'`,
  );
  return (row?.found ?? 0) > 0;
}
