import type pg from 'pg';
import type { ClientConfig, Pool, PoolClient } from 'pg';
import { StoreUnusable } from '../store.ts';
import type { DatabaseAddress } from './address.ts';

/** Waiting for a connection, in milliseconds, when nothing is said: for the network, or for one of a pool that is all in use. */
const CONNECT_MS = 10_000;

/** Types whose values come as SQLite gives them: whole numbers and sums as numbers, truth values as 0 and 1. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => (text === 't' ? 1 : 0),
  20: toNumber,
  1700: toNumber,
};

function toNumber(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return value;
  throw new RangeError('A number of the database is beyond what is exact.');
}

/** The driver, loaded when the first database is opened: no client command needs it. */
export async function loadDriver(): Promise<typeof pg> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    throw new StoreUnusable('The PostgreSQL driver (pg) is not installed.', 'Install molar again.', cause);
  }
}

/** What every connection is made with. */
export function connectionOptions(driver: typeof pg, address: DatabaseAddress, connectMs = CONNECT_MS): ClientConfig {
  return {
    connectionString: address.url,
    ssl: address.tls,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: CONNECT_MS,
    types: {
      getTypeParser: ((oid: number, format: 'text') =>
        PARSERS[oid] ?? driver.types.getTypeParser(oid, format)) as typeof driver.types.getTypeParser,
    },
  };
}

/** A pool whose broken connections are thrown away, and never end the process. `settings` are run on new connections. */
export function makePool(
  driver: typeof pg,
  address: DatabaseAddress,
  max: number,
  settings: string,
  connectMs = CONNECT_MS,
): Pool {
  const pool = new driver.Pool({
    ...connectionOptions(driver, address, connectMs),
    max,
    // Statements are sent without waiting for the answers of those before them.
    pipeline: true,
    idleTimeoutMillis: 60_000,
  });
  pool.on('error', () => {});
  pool.on('connect', (client: PoolClient) => {
    client.on('error', () => {});
    if (address.sessions && settings !== '') client.query(settings).catch(() => {});
  });
  return pool;
}
