import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** First part of the advisory lock that a run holds while it lives; the second is the run. */
const RUNS = 1_836_019_041;

/** A name for a schema, database or role that goes with the run of the tests, by the next run at the latest. */
export function runName(): string {
  return `molar_test_${process.env.MOLAR_TEST_RUN}_${randomBytes(8).toString('hex')}`;
}

/**
 * Catalogs of the database, in which every table that was made and dropped leaves dead rows. Where nothing else vacuums they
 * are a million after some runs, and to look for the tables of a schema takes twenty times as long.
 */
const CATALOGS = 'pg_attribute, pg_depend, pg_class, pg_index, pg_type, pg_constraint, pg_statistic';

const NAME = /^molar_test_([0-9a-f]{7})_[0-9a-f]{16}/;

const LEFT = `
  SELECT 'SCHEMA' AS kind, nspname AS name FROM pg_namespace WHERE nspname LIKE 'molar_test_%'
  UNION ALL SELECT 'DATABASE', datname FROM pg_database WHERE datname LIKE 'molar_test_%'
  UNION ALL SELECT 'ROLE', rolname FROM pg_roles WHERE rolname LIKE 'molar_test_%'`;

const DROPS: Readonly<Record<string, (name: string) => string>> = {
  SCHEMA: (name) => `DROP SCHEMA IF EXISTS ${name} CASCADE`,
  DATABASE: (name) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`,
  ROLE: (name) => `DROP ROLE IF EXISTS ${name}`,
};

/**
 * Drops what runs that were killed have left in PostgreSQL, and shows others that this run lives until the function
 * given back is called, which drops what this one has left: the database ends that, too, when the process ends. Does
 * nothing where none answers at `address`.
 */
export async function openRunDatabases(address: string, run: string): Promise<() => Promise<void>> {
  const client = new pg.Client(address);
  // Tests that need the database say themselves that it has gone.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch {
    return async () => {};
  }
  await isDead(client, run);
  await client.query("SET client_min_messages = warning; SET lock_timeout = '10s'");
  await dropLeft(client, async (left) => left !== run && (await isDead(client, left)));
  // Nobody waits for it, nor needs it: who may not is told so, and goes on.
  client.query(`VACUUM (SKIP_LOCKED) ${CATALOGS}`).catch(() => {});
  return async () => {
    await dropLeft(client, async (left) => left === run).catch(() => {});
    await client.end();
  };
}

/** Drops what is left of runs that are over. */
async function dropLeft(client: pg.Client, isOver: (run: string) => Promise<boolean>): Promise<void> {
  const { rows } = await client.query<{ kind: string; name: string }>(LEFT);
  for (const { kind, name } of rows) {
    const left = NAME.exec(name)?.[1];
    if (left === undefined || !(await isOver(left))) continue;
    await client.query(DROPS[kind]?.(name) ?? '').catch(({ message }: Error) => {
      process.stderr.write(`${name}, of a run of the tests that is over, stays: ${message}\n`);
    });
  }
}

/** Takes the lock of a run. Two runs that start at once do not drop the same: the lock lasts as long as the connection. */
async function isDead(client: pg.Client, run: string): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_try_advisory_lock($1, $2) AS taken', [RUNS, Number.parseInt(run, 16)]);
  return rows[0]?.taken === true;
}
