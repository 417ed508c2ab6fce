import { once } from 'node:events';
import pg from 'pg';
import { expect } from 'vitest';
import { openPostgresStore } from '../../src/server/store/postgres/store.ts';
import { onPostgres, postgresTest } from '../support/postgres.ts';
import { preparedDatabase } from '../support/preparedschemas.ts';
import { testService } from '../support/service.ts';

/** All rows of a schema, by table, and how far its sequences are; its epoch and its servers apart, which no other one has. */
function contentsOf(url: string): Promise<Record<string, unknown>> {
  return onPostgres(async (client) => {
    const contents: Record<string, unknown> = {};
    const own = 'table_schema = current_schema()';
    const { rows: tables } = await client.query(
      `SELECT table_name AS name FROM information_schema.tables WHERE ${own} AND table_name <> 'servers'`,
    );
    for (const { name } of tables) {
      const { rows } = await client.query(`SELECT t::text AS row FROM ${name} t ORDER BY 1`);
      contents[name] = rows
        .filter(({ row }) => !row.includes('_epoch,'))
        .map(({ row }) => row.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, 'when it was made'));
    }
    const { rows } = await client.query(
      'SELECT sequencename AS name, last_value FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1',
    );
    return { ...contents, sequences: rows };
  }, url);
}

postgresTest('a schema that a service is done with is as a new one, or is not used again', async (fresh) => {
  await (await openPostgresStore(fresh.url)).close();
  const service = await testService(undefined, { store: 'postgres' });
  const { database } = service;
  const tag = { tagText: 'Unheard of', isPredefined: false, tagType: 'PAYMENT_TAG' };
  expect((await service.call('POST', '/transactiontags', { body: tag })).status).toBe(201);
  await service.close();

  const again = await preparedDatabase();
  expect(again.url).toBe(database);
  expect(await contentsOf(again.url)).toEqual(await contentsOf(fresh.url));
  // Whatever was altered and put back may have done more than is seen.
  const alter = 'ALTER TABLE patients RENAME TO hidden; ALTER TABLE hidden RENAME TO patients';
  await onPostgres((client) => client.query(alter), again.url);
  await again.drop();
  await expect(again.drop()).rejects.toThrow('dropped before');

  const other = await preparedDatabase();
  expect(other.url).not.toBe(again.url);
  await other.drop();
});

postgresTest('a connection that a pool is done with is as a new one for the next', async () => {
  const { url, drop } = await preparedDatabase();
  const readers = () => new pg.Pool({ connectionString: url, max: 1 });
  const first = readers();
  const pid = 'SELECT pg_backend_pid() AS pid';
  const { rows: used } = await first.query(pid);
  const channel = 'molar_test';
  await first.query(`SET statement_timeout = 1234; SET search_path = elsewhere; LISTEN ${channel}`);
  await first.query({ name: 'prepared', text: 'SELECT 1 AS one' });
  await first.query('SELECT pg_advisory_lock(1234567)');
  await first.query('CREATE TEMP TABLE leftover (id int); BEGIN; DECLARE walk CURSOR WITH HOLD FOR SELECT 1');
  // A pool says that it has ended before its connections have.
  await Promise.all([once(first, 'remove'), first.end()]);

  const next = readers();
  expect((await next.query(pid)).rows).toEqual(used);
  const { rows } = await next.query(`SELECT current_setting('statement_timeout') AS timeout, current_schema() AS schema,
    (SELECT count(*)::int FROM pg_listening_channels()) AS heard,
    (SELECT count(*)::int FROM pg_prepared_statements) AS prepared,
    (SELECT count(*)::int FROM pg_cursors) AS cursors,
    (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks,
    to_regclass('leftover') AS temporary, now() = statement_timestamp() AS apart`);
  expect(rows).toEqual([
    {
      timeout: '0',
      schema: new URL(url).searchParams.get('options')?.match(/search_path=(\w+)/)?.[1],
      heard: 0,
      prepared: 0,
      cursors: 0,
      locks: 0,
      temporary: null,
      apart: true,
    },
  ]);
  expect((await next.query({ name: 'prepared', text: 'SELECT 2 AS two' })).rows).toEqual([{ two: 2 }]);
  // One that breaks is nobody's any more.
  await expect(next.query('SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toThrow();
  await Promise.all([once(next, 'remove'), next.end()]);
  const last = readers();
  expect((await last.query(pid)).rows).not.toEqual(used);
  await last.end();
  await drop();
});
