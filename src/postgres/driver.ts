import type pg from 'pg';
import type { ClientConfig } from 'pg';
import type { DatabaseAddress } from './address.ts';
import { PostgresUnusable } from './unusable.ts';

/** Waiting for a connection, in milliseconds, when nothing is said: for the network, or for one of a pool that is all in use. */
const CONNECT_MS = 10_000;

/** Values by the number of their type, from their text; those of other types come as the driver gives them. */
export type Parsers = Readonly<Record<number, (text: string) => unknown>>;

/** The driver, loaded when the first database is opened: few commands need it. Throws `PostgresUnusable`. */
export async function loadDriver(): Promise<typeof pg> {
  try {
    const driver = (await import('pg')).default;
    // Of its own accord the driver reads the file too, but warns on standard error that it will not for ever.
    driver.defaults.password = passwordOfFile;
    return driver;
  } catch (cause) {
    throw new PostgresUnusable('The PostgreSQL driver (pg) is not installed.', 'Install molar again.', cause);
  }
}

/** The password that `~/.pgpass`, or PGPASSFILE, has for a connection; undefined where it has none. */
async function passwordOfFile(connection: object = {}): Promise<string> {
  const { default: pgpass } = await import('pgpass');
  // The types of the driver leave out that there may be none.
  return new Promise((resolve) => pgpass(connection, (password) => resolve(password as string)));
}

/** What every connection is made with; `parsers` beats the driver's own. */
export function connectionOptions(
  driver: typeof pg,
  address: DatabaseAddress,
  parsers: Parsers,
  connectMs = CONNECT_MS,
): ClientConfig {
  return {
    connectionString: address.url,
    ssl: address.tls,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: CONNECT_MS,
    types: {
      getTypeParser: ((oid: number, format: 'text') =>
        parsers[oid] ?? driver.types.getTypeParser(oid, format)) as typeof driver.types.getTypeParser,
    },
  };
}
