import { describe, expect } from 'vitest';
import { Failure } from '../../../src/core/failure.ts';
import { databasePlace } from '../../../src/core/mirror/place.ts';
import { QueryFault } from '../../../src/core/query/fault.ts';
import type { MirroredTable } from '../../../src/core/query/mirrortables.ts';
import type { Parameters } from '../../../src/core/query/parameters.ts';
import { openPostgresQuery } from '../../../src/core/query/postgresquery.ts';
import { PostgresSource } from '../../../src/core/query/postgressource.ts';
import { onPostgres, postgresTest, type TestDatabase } from '../../support/postgres.ts';

const FACTS = "'org-1', 'https://api.example.com', 0, 0";

/** A mirror as its contract describes it, made by hand: two patients, no appointments yet. */
const MIRROR = `
CREATE TABLE _mirror (resource text PRIMARY KEY, table_name text, organization text, url text, rows bigint,
  deleted_rows bigint, complete boolean, as_of timestamptz(3), unavailable text);
CREATE TABLE _facts (name text PRIMARY KEY, value text);
INSERT INTO _facts VALUES ('form', '1');
INSERT INTO _mirror VALUES ('patients', 'patients', ${FACTS}, true, '2026-11-22T05:00:00Z', NULL),
  ('appointments', 'appointments', ${FACTS}, false, NULL, NULL);
CREATE TABLE patients (id bigint PRIMARY KEY, first_name text, balance_cents bigint, is_active boolean, born date,
  last_modified timestamptz(3), _record jsonb);
CREATE TABLE appointments (id bigint PRIMARY KEY, patient_id bigint);
CREATE VIEW v_visits AS SELECT p.id AS patient_id, count(a.id) AS visits FROM patients AS p LEFT JOIN appointments AS a ON a.patient_id = p.id GROUP BY 1;
INSERT INTO patients VALUES (5, 'Ann', -1250, true, '2020-02-29', '2026-11-22T05:00:00.12Z', '{}'), (9007199254740993, '=Bob', NULL, false, NULL, NULL, '{}');
CREATE SEQUENCE numbers;
CREATE FUNCTION meddles() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM patients; RETURN 1; END $$`;

interface Asked {
  readonly parameters?: Parameters;
  readonly partial?: boolean;
  readonly signal?: AbortSignal;
}

/** The names and the rows of a statement, some rows at a time. */
async function read({ url }: TestDatabase, sql: string, { parameters = {}, partial = false, signal }: Asked = {}) {
  const place = databasePlace(url, '--from', {});
  const statement = { sql, parameters, partial };
  const result = await openPostgresQuery(place, statement, signal ?? new AbortController().signal);
  const rows: unknown[] = [];
  try {
    for (let some = await result.next(2); some.length > 0; some = await result.next(300)) rows.push(...some);
  } finally {
    await result.close();
  }
  return { names: result.names, rows };
}

const faultOf = (database: TestDatabase, sql: string, asked?: Asked) =>
  read(database, sql, asked).then(
    () => 'read',
    (cause: unknown) => (cause instanceof QueryFault ? cause.facts : cause),
  );

const made = (database: TestDatabase) => onPostgres((client) => client.query(MIRROR), database.url);

describe('a query of a mirror in PostgreSQL', () => {
  postgresTest('has values as a query of a file has them', async (database) => {
    await made(database);
    expect(await read(database, 'SELECT * FROM patients ORDER BY id')).toEqual({
      names: ['id', 'first_name', 'balance_cents', 'is_active', 'born', 'last_modified', '_record'],
      rows: [
        [5, 'Ann', -1250, true, '2020-02-29', '2026-11-22T05:00:00.120Z', '{}'],
        [9007199254740993n, '=Bob', null, false, null, null, '{}'],
      ],
    });
    const values = `SELECT sum(id), 12.50, 0.1 + 0.2, 1e400::numeric > 0, 'NaN'::float8, '\\xdeadbeef'::bytea, ARRAY[1,2],
      123456789012345678.25, DATE '2026-01-05', 7::smallint + 0::smallint, 'patients'::regclass::oid > 0, 5::oid, TIMESTAMPTZ '2026-01-05 08:00:00.123456-07', TIMESTAMP '2026-01-05 08:00:00' FROM patients`;
    expect((await read(database, values)).rows).toEqual([
      [
        ...[9007199254740998n, 12.5, 0.3, true, 'NaN', '3q2+7w==', '{1,2}', 123456789012345680],
        ...['2026-01-05', 7, true, 5, '2026-01-05T15:00:00.123456Z', '2026-01-05 08:00:00'],
      ],
    ]);
    const averages =
      'SELECT avg(n), 9007199254740993.00, -0.50, 1e308::numeric * 10 FROM (VALUES (1), (1), (2)) AS t (n)';
    expect((await read(database, averages)).rows).toEqual([[4 / 3, 9007199254740993n, -0.5, 10n ** 309n]]);
    const many = await read(database, 'SELECT n FROM generate_series(1, 2345) AS n -- all of them');
    expect(many.rows.flat()).toEqual(Array.from({ length: 2345 }, (_, index) => index + 1));
  });

  postgresTest('takes parameters by name, whatever they hold', async (database) => {
    await made(database);
    const sql = `SELECT id FROM patients /* :no */ WHERE id = :id AND first_name = :name AND ':no'::text <> $$:no$$ || 'x'`;
    const parameters = { id: 9007199254740993n, name: '=Bob' };
    expect((await read(database, sql, { parameters })).rows).toEqual([[9007199254740993n]]);
    const whole = { parameters: { n: 5n } };
    expect(await read(database, 'SELECT :n AS n, :n / 2 AS half', whole)).toEqual({
      names: ['n', 'half'],
      rows: [[5, 2]],
    });
    for (const condition of ['first_name = :n OR id = 5', 'id = :n OR first_name = :n', 'first_name = :n OR id = :n']) {
      const { rows } = await read(database, `SELECT id FROM patients WHERE ${condition}`, whole);
      expect([condition, rows]).toEqual([condition, [[5]]]);
    }
    expect(await faultOf(database, 'SELECT nothing(:n)', whole)).toMatchObject({ kind: 'sql', at: 7 });
    const name = "'; DROP TABLE patients; --";
    expect((await read(database, 'SELECT :name, :name::text = :name', { parameters: { name } })).rows).toEqual([
      [name, true],
    ]);
  });

  postgresTest('is refused by the database unless it only reads', async (database) => {
    await made(database);
    const before = await onPostgres((client) => client.query('SELECT * FROM patients'), database.url);
    for (const sql of REFUSED)
      expect([sql, await faultOf(database, sql)]).toMatchObject([sql, { kind: expect.any(String) }]);
    expect((await onPostgres((client) => client.query('SELECT * FROM patients'), database.url)).rows).toEqual(
      before.rows,
    );
    expect(await faultOf(database, 'DELETE FROM patients')).toMatchObject({ kind: 'refused' });
    expect(await faultOf(database, 'DELETE FROM patients RETURNING id')).toMatchObject({ kind: 'refused' });
    for (const sql of [
      'SHOW server_version',
      'EXPLAIN SELECT * FROM patients',
      'EXPLAIN DELETE FROM patients',
      'TABLE patients',
    ])
      expect((await read(database, sql)).rows.length).toBeGreaterThan(0);
  });

  postgresTest('names what is wrong, where, and what may have been meant', async (database) => {
    await made(database);
    const table = await faultOf(database, "SELECT ':a', :long\nFROM patiens", { parameters: { long: 'x' } });
    expect(table).toMatchObject({
      kind: 'table',
      name: 'patiens',
      at: 24,
      known: expect.arrayContaining(['patients']),
    });
    expect(await faultOf(database, 'SELECT x.id FROM patients AS p')).toMatchObject({ kind: 'sql', at: 7 });
    const column = await faultOf(database, "SELECT '𝒳', p.first_nme FROM patients AS p");
    expect(column).toMatchObject({
      kind: 'column',
      name: 'first_nme',
      at: 13,
      known: expect.arrayContaining(['first_name']),
    });
    expect(await faultOf(database, 'SELECT FROM WHERE')).toMatchObject({ kind: 'sql', at: 12 });
    expect(await faultOf(database, 'SELECT count(*) FROM appointments')).toMatchObject({
      kind: 'incomplete',
      name: 'appointments',
    });
    expect(await faultOf(database, 'SELECT * FROM v_visits')).toMatchObject({
      kind: 'incomplete',
      name: 'appointments',
    });
    expect((await read(database, 'SELECT * FROM v_visits', { partial: true })).rows).toHaveLength(2);
    const url = new URL(database.url);
    url.searchParams.set('schema', 'nowhere');
    expect(await faultOf({ ...database, url: url.href }, 'SELECT 1')).toMatchObject({ kind: 'missing' });
    url.port = '1';
    expect(await faultOf({ ...database, url: url.href }, 'SELECT 1')).toSatisfy(
      (cause) => cause instanceof Failure && cause.exitCode === 8,
    );
  });

  postgresTest('leaves no connection behind, whatever was wrong', async (database) => {
    await made(database);
    const own = new URL(database.url);
    own.searchParams.set('application_name', database.schema);
    const asked = { ...database, url: own.href };
    const open = async () => {
      const text = `SELECT application_name AS name FROM pg_stat_activity WHERE application_name = '${database.schema}'`;
      return (await onPostgres((client) => client.query(text))).rows.length;
    };
    for (const sql of ['SELECT 1', 'SELECT * FROM patiens', 'DELETE FROM patients', 'SELECT * FROM appointments'])
      await faultOf(asked, sql);
    await onPostgres((client) => client.query('DROP TABLE _facts'), database.url);
    expect(await faultOf(asked, 'SELECT 1')).toMatchObject({ kind: 'missing' });
    await expect.poll(open).toBe(0);
  });

  postgresTest('gives the records of every table as they were when it was opened', async (database) => {
    await made(database);
    const source = await PostgresSource.open(databasePlace(database.url, '--from', {}));
    try {
      await onPostgres(
        (client) => client.query(`UPDATE patients SET _record = '{"id":1}'; INSERT INTO patients (id) VALUES (7)`),
        database.url,
      );
      const [patients] = source.tables;
      const rows: unknown[] = [];
      for await (const page of source.pages(patients as MirroredTable)) rows.push(...page.rows);
      expect(rows).toEqual([{}, {}]);
    } finally {
      await source.close();
    }
  });

  postgresTest('ends at once when it is given up, on the side of the database too', async (database) => {
    await made(database);
    const ended = new AbortController();
    const running = read(database, 'SELECT pg_sleep(60)', { signal: ended.signal });
    const sleeping = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)' AND state = 'active'`;
    const count = async () => (await onPostgres((client) => client.query(sleeping))).rows[0].n;
    while ((await count()) === 0);
    ended.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    while ((await count()) > 0);
  });

  postgresTest('leaves no connection when it is given up while it is opened', async (database) => {
    await made(database);
    const url = new URL(database.url);
    url.searchParams.set('application_name', 'given-up');
    const waits = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'given-up' AND wait_event_type = 'Lock'`;
    const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    await onPostgres(async (client) => {
      await client.query('BEGIN; LOCK TABLE _mirror');
      const before = sockets();
      const ended = new AbortController();
      const running = read({ ...database, url: String(url) }, 'SELECT 1', { signal: ended.signal });
      await expect.poll(async () => (await onPostgres((other) => other.query(waits))).rows.length).toBe(1);
      ended.abort(new Error('enough'));
      await expect(running).rejects.toThrow('enough');
      await expect.poll(sockets).toBe(before);
      await expect(read(database, 'SELECT 1', { signal: ended.signal })).rejects.toThrow('enough');
      await expect.poll(sockets).toBe(before);
    }, database.url);
  });
});

const REFUSED = [
  'INSERT INTO patients (id) VALUES (1)',
  'INSERT INTO patients (id) VALUES (1) RETURNING id',
  'WITH gone AS (DELETE FROM patients RETURNING *) SELECT * FROM gone',
  'UPDATE patients SET first_name = NULL',
  'TRUNCATE patients',
  'DROP TABLE patients',
  'CREATE TABLE more (id int)',
  'CREATE TEMP TABLE more (id int)',
  'SELECT * INTO more FROM patients',
  'SELECT 1; DELETE FROM patients',
  'SELECT 1; SELECT 2',
  'COMMIT',
  'BEGIN READ WRITE',
  'SET TRANSACTION READ WRITE',
  'SET search_path = other',
  'DO $$ BEGIN DELETE FROM patients; END $$',
  "COPY patients TO PROGRAM 'cat'",
  'COPY patients TO STDOUT',
  'COPY patients FROM STDIN',
  'LOCK TABLE patients',
  'NOTIFY somebody',
  'VACUUM',
  'PREPARE p AS SELECT 1',
  'EXPLAIN ANALYZE DELETE FROM patients',
  'SELECT * FROM patients FOR UPDATE',
  "SELECT nextval('numbers')",
  'SELECT meddles()',
  "SELECT set_config('transaction_read_only', 'off', true)",
  'PRAGMA user_version',
  '',
  '-- nothing',
];
