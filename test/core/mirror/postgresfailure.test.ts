import { expect, it } from 'vitest';
import { databasePlace } from '../../../src/core/mirror/place.ts';
import { connect, postgresFailure } from '../../../src/core/mirror/postgres/connection.ts';
import { PostgresDatabase } from '../../../src/core/mirror/postgres/database.ts';
import { PostgresUnusable } from '../../../src/postgres/unusable.ts';
import { onPostgres, postgresTest } from '../../support/postgres.ts';

postgresTest(
  'what a database refuses is told with what to do, and a connection that is lost as such',
  async ({ url }) => {
    const { client, schema = '' } = await connect(databasePlace(url, '--to', {}), {});
    try {
      const database = new PostgresDatabase('NAME', client, schema);
      const faultOf = (sql = ''): Promise<unknown> => database.script(sql).catch((cause: unknown) => cause);
      expect(await faultOf('BEGIN READ ONLY; CREATE TABLE one (id int)')).toMatchObject({
        exitCode: 9,
        message: expect.stringContaining('25006'),
        hint: expect.stringContaining('default_transaction_read_only'),
      });
      await client.query("ROLLBACK; SET statement_timeout = '500ms'");
      expect(await faultOf('SELECT pg_sleep(60)')).toMatchObject({
        exitCode: 9,
        message: expect.stringContaining('57014'),
        hint: expect.stringContaining('statement_timeout'),
      });
      // By itself: the limit is that of what comes with it, too.
      await client.query('SET statement_timeout = 0');
      await client.query('CREATE TABLE named (name text PRIMARY KEY, age int CHECK (age > 5))');
      // Of a value that it refuses, the database says which one that is.
      for (const [sql, state] of [
        ["SELECT CAST('Ann Miller' AS int)", '22P02'],
        ["INSERT INTO named VALUES ('Ann Miller', 7), ('Ann Miller', 7)", '23505'],
        ["INSERT INTO named VALUES ('Ann Miller', 3)", '23514'],
        ["SELECT CAST('Ann Miller' AS timestamptz)", '22007'],
      ])
        expect(await faultOf(sql)).toMatchObject({
          exitCode: 9,
          message: `Cannot use the mirror NAME: it refused a value (${state}).`,
        });
      const altering = database.transaction(() => database.alter(['ALTER TABLE missing ADD COLUMN one int']));
      await expect(altering).rejects.toMatchObject({ exitCode: 9, message: expect.stringContaining('42P01') });
      const unasked = client
        .query({ text: 'SELECT 1', values: ['more'] })
        .catch((cause) => postgresFailure(cause, 'NAME'));
      expect(await unasked).toMatchObject({ exitCode: 9, message: expect.stringContaining('08P01') });
      const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
      const ended = new Promise((resolve) => client.once('end', resolve));
      await onPostgres((other) => other.query('SELECT pg_terminate_backend($1)', [rows[0].pid]));
      await ended;
      expect(await faultOf('SELECT 1')).toMatchObject({
        exitCode: 8,
        message: 'The database of NAME cannot be reached: the connection was lost.',
      });
    } finally {
      await client.end().catch(() => undefined);
    }
  },
);

postgresTest('values have the same text whatever the user and the database have set', async (database) => {
  const url = new URL(database.url);
  const others = ['TimeZone=America/Denver', 'DateStyle=German', 'IntervalStyle=sql_standard', 'bytea_output=escape'];
  const more = [...others, 'extra_float_digits=-10', 'standard_conforming_strings=off', 'synchronous_commit=on'];
  const options = more.map((setting) => ` -c ${setting}`).join('');
  url.searchParams.set('options', `${url.searchParams.get('options')}${options}`);
  const texts = `SELECT CAST(timestamptz '2026-07-02T03:04:05Z' AS text) AS instant, CAST(date '2026-07-02' AS text) AS day,
    CAST(interval '1 day 2 hours' AS text) AS span, CAST(CAST('\\x01ff' AS bytea) AS text) AS bytes,
    CAST(0.1::float8 + 0.2::float8 AS text) AS number, 'a\\b' AS plain, current_setting('synchronous_commit') AS waits`;
  const read = async (address: string) => {
    const { client } = await connect(databasePlace(address, '--to', {}), {});
    try {
      return (await client.query(texts)).rows;
    } finally {
      await client.end();
    }
  };
  // They are other ones without molar.
  const [asSet] = await onPostgres(async (client) => (await client.query(texts)).rows, url.href);
  expect(asSet).toMatchObject({ instant: '01.07.2026 21:04:05 MDT', waits: 'on' });
  expect(await read(url.href)).toEqual([
    {
      ...{ instant: '2026-07-02 03:04:05+00', day: '2026-07-02', span: '1 day 02:00:00', bytes: '\\x01ff' },
      ...{ number: '0.30000000000000004', plain: 'a\\b', waits: 'off' },
    },
  ]);
});

it.each<[string, Error, object]>([
  [
    'no driver',
    new PostgresUnusable('The driver is missing.', 'Install it.'),
    { exitCode: 9, code: 'mirror.unusable', message: 'The driver is missing.', hint: 'Install it.' },
  ],
  [
    'no such database',
    Object.assign(new Error('database "x" does not exist'), { code: '3D000', severity: 'FATAL' }),
    { exitCode: 8, code: 'mirror.unreachable', message: 'The database of NAME does not exist.' },
  ],
  [
    'nobody who listens',
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    { exitCode: 8, message: 'The database of NAME cannot be reached: ECONNREFUSED.' },
  ],
  [
    'a connection that takes nothing more',
    Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }),
    { exitCode: 8, code: 'mirror.unreachable', message: 'The database of NAME cannot be reached: EPIPE.' },
  ],
  [
    'a connection that ends',
    new Error('Connection terminated unexpectedly'),
    { exitCode: 8, message: 'The database of NAME cannot be reached: Connection terminated unexpectedly.' },
  ],
])('a database with %s is told as such', (_, cause, failure) => {
  expect(postgresFailure(cause, 'NAME')).toMatchObject(failure);
});

it.each([new TypeError('a mistake'), 'a text'])('what is no fault of a database stays what it is: %s', (cause) => {
  expect(postgresFailure(cause, 'NAME')).toBe(cause);
});
