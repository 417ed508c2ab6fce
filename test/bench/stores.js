// The stores that are measured: SQLite in a folder, and a PostgreSQL database that is made and dropped.
import { randomUUID } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { say } from './processes.js';

const POSTGRES = process.env.MOLAR_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/postgres';

/**
 * Does the work with each store in turn, both empty: its name, the flags and environment by which molar finds it, and
 * how many bytes it takes. Answers what the works answered; PostgreSQL is left out, and said so, where none answers.
 */
export async function onStores(folder, work) {
  const sqlite = await work(sqliteStore(join(folder, 'sqlite')));
  const postgres = await onPostgresStore(folder, work);
  return postgres === undefined ? [sqlite] : [sqlite, postgres];
}

/** Does the work with a PostgreSQL database alone; answers undefined where there is none. */
export async function onPostgresStore(folder, work) {
  const database = `molar_bench_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  try {
    await onPostgres((client) => client.query(`CREATE DATABASE ${database}`));
  } catch (error) {
    say(`PostgreSQL is left out: none can be used at ${new URL(POSTGRES).host} (${error.code ?? error.message}).`);
    say('Start it, or give its address in MOLAR_TEST_POSTGRES.');
    return undefined;
  }
  try {
    say(await settingsText());
    return await work(postgresStore(database, join(folder, 'files')));
  } finally {
    await onPostgres((client) => client.query(`DROP DATABASE ${database} WITH (FORCE)`));
  }
}

function sqliteStore(data) {
  return { name: 'SQLite', flags: ['--data', data], env: {}, bytes: async () => folderBytes(data) };
}

function postgresStore(database, files) {
  const url = addressOf(database);
  const env = url.password === '' ? {} : { PGPASSWORD: decodeURIComponent(url.password) };
  url.password = '';
  return {
    name: 'PostgreSQL',
    url: addressOf(database).href,
    flags: ['--database', url.href, '--files', files],
    env,
    bytes: () => onPostgres(async (client) => Number((await sizeOf(client, database)).rows[0].bytes)),
  };
}

const sizeOf = (client, database) => client.query('SELECT pg_database_size($1) AS bytes', [database]);

function addressOf(database) {
  const url = new URL(POSTGRES);
  url.pathname = `/${database}`;
  return url;
}

async function onPostgres(work) {
  const client = new pg.Client({ connectionString: POSTGRES, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The version and the settings that the figures depend on. */
function settingsText() {
  return onPostgres(async (client) => {
    const names = ['server_version', 'fsync', 'synchronous_commit', 'shared_buffers', 'max_wal_size', 'autovacuum'];
    const shown = [];
    for (const name of names) shown.push(`${name} ${Object.values((await client.query(`SHOW ${name}`)).rows[0])[0]}`);
    return `PostgreSQL: ${shown.join(', ')}`;
  });
}

function folderBytes(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
