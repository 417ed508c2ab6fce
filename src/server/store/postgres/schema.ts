import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { DatabaseAddress } from '../../../postgres/address.ts';
import { sqlState } from '../../../postgres/unusable.ts';
import { StoreFault } from '../faults.ts';
import { SCHEMA } from '../schema/schema.ts';
import { noteServer, type Server } from '../schema/servers.ts';
import { upgrade } from '../schema/upgrade.ts';
import type { Upgrade, UpgradeOptions } from '../schema/upgradework.ts';
import { StoreUnusable, type Transaction } from '../store.ts';
import { isTransient } from './faults.ts';
import { indexingOn } from './indexbuild.ts';
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

/**
 * Checks the database and brings it to this version, on connections of the first pool, and notes that a process serves it.
 * Returns what the work of an upgrade that is left may go on with. Throws `StoreUnusable`.
 */
export async function prepareSchema(
  pools: readonly [Pool, Pool],
  address: DatabaseAddress,
  options: UpgradeOptions,
  server: Server,
): Promise<Upgrade> {
  const [pool] = pools;
  const { name, sessions } = address;
  const { schema = SCHEMA } = options;
  const work: Upgrade = {
    ...options,
    dialect: 'postgres',
    schema,
    transact: (work) => transact(pool, sessions, work),
    indexing: indexingOn(pool, sessions),
    completed: (tx) => noteServer(tx, server),
  };
  try {
    if (sessions) await refusePooler(pools, name);
    await transact(pool, sessions, async (tx) => {
      await checkDatabase(tx, name);
      await requireRights(tx, name);
    });
    await upgrade(work);
    return work;
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
      // Somebody has what it needs in hand, an import for instance: however long that takes.
      const isKept = error instanceof StoreFault && error.code === 'STORE_TIMEOUT';
      // Without the lock, servers that make the same table at once get in each other's way.
      const again = isTransient(error) || sqlState(error) === DUPLICATE_TABLE;
      if (!isKept && (!again || attempt >= MAX_ATTEMPTS)) throw error;
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
      if (!LOCKLESS.has(sqlState(error) ?? '')) throw error;
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

/** States by which a database that only speaks the protocol says that it has no such locks. */
const LOCKLESS = new Set([
  '42883', // undefined_function
  '0A000', // feature_not_supported
]);

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
