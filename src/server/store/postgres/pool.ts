import type pg from 'pg';
import type { Pool, PoolClient } from 'pg';
import type { DatabaseAddress } from '../../../postgres/address.ts';
import { connectionOptions, type Parsers } from '../../../postgres/driver.ts';

/** Types whose values come as SQLite gives them: whole numbers and sums as numbers, truth values as 0 and 1. */
export const PARSERS: Parsers = {
  16: (text) => (text === 't' ? 1 : 0),
  20: toNumber,
  1700: toNumber,
};

function toNumber(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return value;
  throw new RangeError('A number of the database is beyond what is exact.');
}

/** A pool whose broken connections are thrown away, and never end the process. `settings` are run on new connections. */
export function makePool(
  driver: typeof pg,
  address: DatabaseAddress,
  max: number,
  settings: string,
  connectMs?: number,
): Pool {
  const pool = new driver.Pool({
    ...connectionOptions(driver, address, PARSERS, connectMs),
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
