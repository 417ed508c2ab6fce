import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** A schema of its own in the database of the tests. */
export interface TestDatabase {
  /** `postgres://…`, with the schema as the only one that is looked at. */
  readonly url: string;
  readonly schema: string;
  drop(): Promise<void>;
}

/** The database that tests may use: MOLAR_TEST_POSTGRES, else the usual one of this machine. */
const ADDRESS = process.env.MOLAR_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/postgres';

/** Runs commands on the database itself, on a connection that is closed after. */
export async function onPostgres<T>(work: (client: pg.Client) => Promise<T>, url = ADDRESS): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Makes a schema for one service. Nothing of it has to last, so commits do not wait for the disk. */
export async function testDatabase(): Promise<TestDatabase> {
  const schema = `molar_test_${randomUUID().replaceAll('-', '').slice(0, 16)}`;
  await onPostgres((client) => client.query(`CREATE SCHEMA ${schema}`));
  const url = new URL(ADDRESS);
  url.searchParams.set('options', `-c search_path=${schema} -c synchronous_commit=off -c client_min_messages=warning`);
  return {
    url: url.href,
    schema,
    drop: () =>
      onPostgres(async (client) => {
        await client.query(`SET client_min_messages = warning; DROP SCHEMA ${schema} CASCADE`);
      }),
  };
}
