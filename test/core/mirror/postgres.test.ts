import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import MirrorReset from '../../../src/commands/mirror/reset.ts';
import MirrorStatus from '../../../src/commands/mirror/status.ts';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import MirrorTables from '../../../src/commands/mirror/tables.ts';
import { jsonFailure, type Ran } from '../../cli/runcommand.ts';
import { Draws } from '../../faithful/random.ts';
import { onPostgres, postgresTest } from '../../support/postgres.ts';
import { disturbed } from './network.ts';
import { queried } from './oracle.ts';
import { Mirror } from './postgresmirror.ts';
import { changeSomething } from './practice.ts';

describe('a mirror in PostgreSQL', () => {
  postgresTest('equals the server after changes between syncs and during them', (database) =>
    Mirror.use(database, async (mirror) => {
      const draws = new Draws('mirror in PostgreSQL');
      let left = 0;
      const meanwhile = disturbed(async () => {
        if (left-- > 0 && draws.chance(0.4)) await changeSomething(mirror.service, draws);
      });
      for (let round = 0; round < 2; round++) {
        left = 12;
        const busy = await mirror.sync(round === 0 ? [] : ['--history'], { openNetwork: meanwhile });
        expect(busy.exitCode, busy.stderr).toBe(0);
        left = 0;
        for (let change = 8; change > 0; change--) await changeSomething(mirror.service, draws);
        const after = await mirror.sync();
        expect(after.exitCode, after.stderr).toBe(0);
        expect(await mirror.wrong()).toEqual({});
      }
    }),
  );

  postgresTest('has the types of PostgreSQL, and views that anybody can read', (database) =>
    Mirror.use(database, async (mirror) => {
      expect((await mirror.sync(['--timezone', 'America/Denver'])).exitCode).toBe(0);
      const columns = await mirror.read(`SELECT table_name || '.' || column_name AS name, udt_name AS type,
        datetime_precision AS places FROM information_schema.columns WHERE table_schema = '${database.schema}'`);
      const types = new Map(
        columns.map(({ name, type, places }) => [name, places === null ? type : `${type}(${places})`]),
      );
      // The address names no schema: it is where the connection looks.
      const described = await mirror.run('mirror:tables', MirrorTables, ['--to', mirror.url, '--format', 'dbt']);
      expect(described.stdout).toContain(`schema: "${database.schema}"`);
      expect(Object.fromEntries(Object.keys(TYPES).map((name) => [name, types.get(name)]))).toEqual(TYPES);
      const keys =
        await mirror.read(`SELECT count(*) AS keys FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
        WHERE c.relnamespace = '${database.schema}'::regnamespace AND i.indisprimary AND c.relname NOT LIKE '\\_%'`);
      expect(Number(keys[0]?.keys)).toBeGreaterThanOrEqual(2 * 11 + 9);
      for (const view of ['v_patients', 'v_appointments', 'v_schedule', 'v_ledger', 'v_balances', 'v_visits'])
        expect([view, (await mirror.read(`SELECT * FROM ${view}`)).length]).not.toEqual([view, 0]);
      const [local] = await mirror.read(`SELECT count(*) AS all, count(*) FILTER (
        WHERE start_local::text = to_char(start AT TIME ZONE 'America/Denver', 'YYYY-MM-DD HH24:MI:SS')) AS right FROM v_appointments`);
      expect(local?.right).toBe(local?.all);
      const [sums] = await mirror.read(
        'SELECT (SELECT sum(amount) * 100 FROM v_transactions) = (SELECT sum(amount_cents) FROM transactions) AS equal',
      );
      expect(sums?.equal).toBe(1n);
      const [untold] = await mirror.read(`SELECT count(*) AS missing FROM information_schema.columns AS c
        WHERE c.table_schema = '${database.schema}' AND c.table_name NOT LIKE '\\_%' AND NOT EXISTS (
          SELECT 1 FROM _columns AS d WHERE d.table_name = c.table_name AND d.column_name = c.column_name)`);
      expect(untold?.missing).toBe(0n);
    }),
  );

  postgresTest(
    'has the local times of the one in a file where PostgreSQL has an abbreviation of the same name',
    (database) =>
      Mirror.use(database, async (mirror) => {
        const { data } = (await mirror.service.call('GET', '/events', { query: { lastId: 0 } })).body;
        const days = ['2026-01-15', '2026-07-15'];
        // Clocks are ahead in summer, of which the abbreviation knows nothing.
        for (const [index, { id }] of (data as { id: unknown }[]).slice(0, days.length).entries()) {
          const body = { start: `${days[index]}T12:00:00Z` };
          const sent = await mirror.service.call('PUT', `/events/${id}`, {
            body,
            query: { recurrenceTarget: 'OCCURRENCE' },
          });
          expect(sent.status, JSON.stringify(sent.body)).toBe(200);
        }
        const file = join(mirror.env.MOLAR_CONFIG_DIR ?? '', 'mirror.db');
        for (const place of [mirror.url, file]) {
          const words = ['--to', place, '--timezone', 'CST', '--json'];
          const ran = await mirror.run('mirror:sync', MirrorSync, words);
          expect(ran.exitCode, ran.stderr).toBe(0);
        }
        const wall =
          "SELECT CAST(start_local AS text) AS local FROM v_events WHERE start_local IN ('2026-01-15 06:00:00', '2026-07-15 07:00:00') ORDER BY start";
        expect((await mirror.read(wall)).map(({ local }) => local)).toEqual([
          '2026-01-15 06:00:00',
          '2026-07-15 07:00:00',
        ]);
        for (const [table, column] of [
          ['patients', 'last_modified'],
          ['events', 'start'],
          ['appointments', 'start'],
        ]) {
          const query = `SELECT id, CAST(${column}_local AS text) AS local FROM v_${table} ORDER BY id`;
          const rows = await mirror.read(query);
          expect(rows.length).toBeGreaterThan(0);
          expect(rows.map(({ id, local }) => [String(id), local])).toEqual(
            queried(file, query).map(({ id, local }) => [String(id), local]),
          );
        }
      }),
  );

  postgresTest('is proved and mended as the one in a file is', (database) =>
    Mirror.use(database, async (mirror) => {
      expect((await mirror.sync(['--history'])).exitCode).toBe(0);
      const ids = async (query: string) => (await mirror.read(query)).map(({ id }) => String(id));
      const [first = '', second = ''] = await ids('SELECT DISTINCT patient_id AS id FROM patient_phones ORDER BY 1');
      const [last = ''] = await ids('SELECT max(id) AS id FROM patients');
      const [credit = ''] = await ids('SELECT min(transaction_id) AS id FROM transaction_distributions');
      const [event = ''] = await ids('SELECT min(id) AS id FROM events');
      await onPostgres(
        (client) =>
          client.query(`UPDATE patients SET first_name = 'Eve' WHERE id = ${first};
          UPDATE patient_phones SET number = '5' WHERE patient_id = ${second} AND ordinal = 1;
          UPDATE patients SET _record = jsonb_set(_record, '{firstName}', '"Eve"') WHERE id = ${last};
          INSERT INTO patients (id, first_name, _synced_at, _record) VALUES (77, 'Eve', now(), '{"id":77}');
          UPDATE transactions SET amount_cents = amount_cents + 1 WHERE id = ${credit};
          DELETE FROM events WHERE id = ${event}`),
        database.url,
      );
      const found = await mirror.verify();
      expect(found.exitCode, found.stderr).toBe(9);
      const { resources, receipt, file } = found.json;
      const different = (id: string, ...fields: string[]) => ({ id, fields });
      const byName = Object.fromEntries(resources.map((each: { resource: string }) => [each.resource, each]));
      expect(byName.patients).toMatchObject({ missing: [], extra: ['77'] });
      expect(byName.patients.different).toHaveLength(3);
      expect(byName.patients.different).toEqual(
        expect.arrayContaining([
          different(first, 'firstName'),
          different(second, 'phones'),
          different(last, '_record'),
        ]),
      );
      expect(byName.transactions).toMatchObject({ missing: [], extra: [], different: [different(credit, 'amount')] });
      expect(byName.events).toMatchObject({ missing: [event], extra: [], different: [] });
      expect(found.json).toMatchObject({ differences: 6, complete: true });
      expect(file).toMatch(/^postgres:\/\/\w+@[^@]+$/);
      expect(receipt.startsWith(join(mirror.env.MOLAR_CONFIG_DIR ?? '', 'mirror'))).toBe(true);

      const mended = await mirror.verify(['--repair']);
      expect(mended.exitCode, mended.stderr).toBe(0);
      expect(await mirror.wrong()).toEqual({});
      expect(await mirror.read('SELECT first_name FROM patients_deleted WHERE id = 77')).toEqual([
        { first_name: 'Eve' },
      ]);
      expect(
        await mirror.read(
          `SELECT _operation, _valid_to IS NULL AS now FROM patients_history WHERE id = ${first} ORDER BY _valid_from`,
        ),
      ).toEqual([
        { _operation: 'CREATE', now: 0n },
        { _operation: 'UPDATE', now: 1n },
      ]);
      const text = await readFile(receipt, 'utf8');
      expect(text).not.toContain('geheim');
      const proof = JSON.parse(text);
      expect(proof).toMatchObject({ result: 'repaired', file, organization: mirror.env.MOLAR_ORGANIZATION });
      for (const { query, rows, sha256 } of proof.resources.flatMap(({ tables }: { tables: object[] }) => tables)) {
        const lines = (await mirror.read(query)).map((row) => `${Object.values(row)[0]}\n`);
        expect([query, lines.length]).toEqual([query, rows]);
        expect(sha256).toBe(createHash('sha256').update(lines.join('')).digest('hex'));
      }
    }),
  );

  postgresTest('is read meanwhile: nobody waits, and nobody sees a part', (database) =>
    Mirror.use(database, async (mirror) => {
      await mirror.sync();
      const state =
        'SELECT count(*) AS rows, max(_synced_at) AS at, (SELECT min(position) FROM _mirror) AS position FROM patients';
      const before = await mirror.read(state);
      const { data } = (await mirror.service.call('GET', '/patients', { query: { lastId: 0 } })).body;
      for (const { id } of data as { id: unknown }[])
        await mirror.service.call('PUT', `/patients/${id}`, { body: { preferredName: 'New' } });
      const seen: unknown[] = [];
      await onPostgres(async (client) => {
        await client.query('BEGIN; SELECT 1 FROM patients LIMIT 1');
        const watched = disturbed(async () => {
          seen.push(await mirror.read(state));
        });
        const done = await mirror.sync([], { openNetwork: watched });
        expect(done.json.resources[0]).toMatchObject({ changed: 0 });
        expect(done.exitCode, done.stderr).toBe(0);
      }, database.url);
      expect(seen.length).toBeGreaterThan(3);
      for (const rows of seen) expect(rows).toEqual(before);
      const [{ news } = {}] = await mirror.read("SELECT count(*) AS news FROM patients WHERE preferred_name = 'New'");
      expect(news).toBe(BigInt((data as unknown[]).length));
      expect(await mirror.read(state)).not.toEqual(before);
    }),
  );

  postgresTest('belongs to one sync at a time; a lock is gone with its connection', (database) =>
    Mirror.use(database, async (mirror) => {
      expect((await mirror.status()).exitCode).toBe(4);
      let refused: Awaited<ReturnType<Mirror['sync']>> | undefined;
      let held: unknown;
      const meanwhile = disturbed(async () => {
        refused ??= await mirror.sync();
        held ??= (await mirror.status()).json?.lock;
      });
      const first = await mirror.sync(['patients'], { openNetwork: meanwhile });
      expect(first.exitCode, first.stderr).toBe(0);
      expect(jsonFailure(refused as Ran)).toMatchObject({ exitCode: 9 });
      expect(refused?.stderr).toContain(`molar mirror sync, process ${process.pid} since`);
      expect(held).toMatchObject({ pid: process.pid, command: 'molar mirror sync' });
      expect((await mirror.status()).json.lock).toBeNull();
      let left = 10;
      const cut = disturbed(async () => {
        if (--left > 0) return;
        await onPostgres((client) =>
          client.query(`SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity AS a JOIN pg_locks AS l ON l.pid = a.pid
            WHERE l.locktype = 'advisory' AND a.application_name LIKE 'molar mirror sync ${process.pid} %'`),
        );
      });
      const lost = await mirror.sync(['--follow'], { openNetwork: cut });
      expect(jsonFailure(lost)).toMatchObject({ exitCode: 8, code: 'mirror.unreachable' });
      expect((await mirror.sync()).exitCode).toBe(0);
    }),
  );

  postgresTest('leaves what is of no mirror, and of others, as it is', (database) =>
    Mirror.use(database, async (mirror) => {
      await onPostgres((client) => client.query('CREATE TABLE patients (name text)'), database.url);
      const refused = await mirror.sync(['patients']);
      expect(jsonFailure(refused)).toMatchObject({
        exitCode: 9,
        message: expect.stringContaining('has a table patients'),
      });
      const tables = `SELECT relname FROM pg_class WHERE relnamespace = '${database.schema}'::regnamespace`;
      expect(await mirror.read(tables)).toEqual([{ relname: 'patients' }]);

      const own = new URL(mirror.url);
      own.searchParams.set('schema', `${database.schema} Own`);
      const words = ['--to', own.href];
      const made = await mirror.run('mirror:sync', MirrorSync, ['patients', ...words, '--json']);
      try {
        expect(made.exitCode, made.stderr).toBe(0);
        const rows = await mirror.read(`SELECT count(*) AS rows FROM "${database.schema} Own".patients`);
        expect(rows).toEqual([{ rows: BigInt(made.json.resources[0].rows) }]);
        const other = { env: { ...mirror.env, MOLAR_ORGANIZATION: 'another' } };
        const another = await mirror.run('mirror:sync', MirrorSync, [...words, '--json'], other);
        expect(jsonFailure(another)).toMatchObject({ exitCode: 2 });
        expect((await mirror.run('mirror:reset', MirrorReset, [...words, '--yes'])).exitCode).toBe(0);
        expect((await mirror.run('mirror:status', MirrorStatus, words)).exitCode).toBe(4);
      } finally {
        await onPostgres((client) => client.query(`DROP SCHEMA "${database.schema} Own" CASCADE`));
      }
    }),
  );
});

/** What the contract says of types. */
const TYPES = {
  'patients.id': 'int8',
  'patients.first_name': 'text',
  'patients.preferred_location_id': 'int8',
  'patients.date_of_birth': 'date(0)',
  'patients.last_modified': 'timestamptz(3)',
  'patients._synced_at': 'timestamptz(3)',
  'patients._record': 'jsonb',
  'patients_deleted._deleted_at': 'timestamptz(3)',
  'patient_phones.sequence': 'int8',
  'transactions.amount_cents': 'int8',
  'transactions.is_active': 'bool',
  'transaction_distributions.applied_amount_cents': 'int8',
  'documents.owner_organization_id': 'text',
  '_mirror.as_of': 'timestamptz(3)',
  '_mirror.complete': 'bool',
  'v_transactions.amount': 'numeric',
  'v_appointments.start_local': 'timestamp(0)',
} as const;
