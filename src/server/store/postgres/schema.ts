import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { SCHEMA } from '../schema/schema.ts';
import { type UpgradeOptions, upgrade } from '../schema/upgrade.ts';
import { StoreUnusable, type Transaction } from '../store.ts';
import type { DatabaseAddress } from './address.ts';
import { isTransient, sqlState } from './faults.ts';
import { requireRights } from './rights.ts';
import { connectionOf } from './statements.ts';
import { PostgresTransaction } from './transaction.ts';
import { refusePooler, unusable } from './unusable.ts';

/** Servers that start together meet here; whoever is second finds the work done. */
const LOCK = "SELECT pg_advisory_xact_lock(hashtext('molar ' || current_schema()))";

const MAX_ATTEMPTS = 10;

/** Maximum pause before another attempt, in milliseconds. */
const MAX_PAUSE_MS = 2000;

/** Oldest release of PostgreSQL itself; others that speak its protocol are recognized by their name. */
const OLDEST = 14;

/** Checks the database and brings it to this version, on connections of the first pool. Throws `StoreUnusable`. */
export async function prepareSchema(
  pools: readonly [Pool, Pool],
  address: DatabaseAddress,
  options: UpgradeOptions,
): Promise<void> {
  const [pool] = pools;
  const { name, sessions } = address;
  const { schema = SCHEMA } = options;
  try {
    if (sessions) await refusePooler(pools, name);
    await transact(pool, sessions, async (tx) => {
      await checkDatabase(tx, name);
      await requireRights(tx, name);
    });
    await upgrade({ ...options, dialect: 'postgres', schema, transact: (work) => transact(pool, sessions, work) });
  } catch (error) {
    throw unusable(error, name);
  }
}

/** Runs a work under the lock, as long as it takes; again when another server was in its way. */
async function transact<T>(pool: Pool, sessions: boolean, work: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryTransact(pool, sessions, work);
    } catch (error) {
      // Without the lock, servers that make the same table at once get in each other's way.
      const again = isTransient(error) || sqlState(error) === DUPLICATE_TABLE;
      if (!again || attempt >= MAX_ATTEMPTS) throw error;
      await sleep(Math.random() * Math.min(10 * 2 ** attempt, MAX_PAUSE_MS));
    }
  }
}

async function tryTransact<T>(pool: Pool, sessions: boolean, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query('BEGIN');
    await client.query('SET LOCAL statement_timeout = 0; SET LOCAL client_min_messages = warning');
    await client.query(`SAVEPOINT locking; ${LOCK}`).catch(async (error: unknown) => {
      if (sqlState(error) !== UNDEFINED_FUNCTION) throw error;
      await client.query('ROLLBACK TO SAVEPOINT locking');
    });
    const value = await work(new PostgresTransaction(connectionOf(client, sessions), true));
    await client.query('COMMIT');
    broken = false;
    return value;
  } catch (error) {
    await client.query('ROLLBACK').then(
      () => {
        broken = false;
      },
      () => {},
    );
    throw error;
  } finally {
    client.release(broken);
  }
}

const DUPLICATE_TABLE = '42P07';
const UNDEFINED_FUNCTION = '42883';

interface Facts {
  readonly version: string;
  readonly number: string;
  readonly encoding: string;
  readonly schema: string | null;
}

async function checkDatabase(tx: Transaction, name: string): Promise<void> {
  const text = `SELECT version() AS version, current_setting('server_version_num') AS number,
    current_setting('server_encoding') AS encoding, current_schema() AS schema`;
  const { version, number, encoding, schema } = (await tx.get<Facts>({ sql: text, text, values: [] })) as Facts;
  const major = Math.trunc(Number(number) / 10_000);
  if (/^PostgreSQL/.test(version) && !/-YB-/.test(version) && major < OLDEST) {
    throw new StoreUnusable(
      `The database ${name} is PostgreSQL ${major}; molar needs ${OLDEST} or newer.`,
      'Upgrade it, or use another.',
    );
  }
  if (encoding !== 'UTF8') {
    throw new StoreUnusable(
      `The database ${name} holds text in ${encoding}; molar needs UTF8.`,
      `Make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.`,
    );
  }
  if (schema === null) {
    throw new StoreUnusable(
      `The database ${name} has no schema to put tables into.`,
      'Check search_path, that the schema is there, and that this user has USAGE on it.',
    );
  }
}
