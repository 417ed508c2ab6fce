import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { sqlState } from '../../../postgres/unusable.ts';
import type { Index } from '../layout.ts';
import { indexText } from '../schema/schema.ts';
import type { Indexing } from '../schema/upgradework.ts';
import { isTransient, storeFault } from './faults.ts';

/** Between two looks at an index that another server builds. */
const PAUSE_MS = 500;

/** Builds that may end in a deadlock, or with a record that others have in hand, before that is a fault. */
const MAX_ATTEMPTS = 5;

/** Whoever builds an index holds this lock on its table, from before the index is to be seen until it can be used. */
const STATE = `SELECT i.indisvalid AND i.indisready AS usable, EXISTS (SELECT 1 FROM pg_locks l
      WHERE l.relation = i.indrelid AND l.mode = 'ShareUpdateExclusiveLock' AND l.granted
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS building
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = current_schema() AND c.relname = $1`;

/**
 * Drops and builds indexes while others write. What a build that was killed has left is dropped; one that another server is
 * at, or a killed server's connection still is, is waited for.
 */
export function indexingOn(pool: Pool, sessions: boolean): Indexing {
  const unlimited = async (work: (client: PoolClient) => Promise<void>) => {
    const client = await pool.connect();
    let broken = true;
    try {
      // Behind a pooler the setting would be somebody else's.
      if (sessions) await client.query('SET statement_timeout = 0');
      await work(client);
      if (sessions) await client.query('RESET statement_timeout');
      broken = false;
    } catch (error) {
      throw storeFault(error);
    } finally {
      client.release(broken);
    }
  };
  return {
    drop: (name) => unlimited((client) => drop(client, name)),
    build: (index) => unlimited((client) => build(client, index)),
  };
}

async function build(client: PoolClient, index: Index): Promise<void> {
  const text = indexText(index).replace('INDEX', 'INDEX CONCURRENTLY IF NOT EXISTS');
  for (let attempt = 1; ; ) {
    const { rows } = await client.query<{ usable: number; building: number }>(STATE, [index.name]);
    const [found] = rows;
    if (found?.usable === 1) return;
    if (found?.building === 1) {
      await sleep(PAUSE_MS);
      continue;
    }
    if (found !== undefined) await drop(client, index.name);
    try {
      await client.query(text);
    } catch (error) {
      if (!isTransient(error) || attempt++ >= MAX_ATTEMPTS) throw error;
      await sleep(Math.random() * PAUSE_MS);
    }
  }
}

async function drop(client: PoolClient, name: string): Promise<void> {
  try {
    await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
  } catch (error) {
    // Another server has dropped it meanwhile.
    if (sqlState(error) !== UNDEFINED_OBJECT) throw error;
  }
}

const UNDEFINED_OBJECT = '42704';
