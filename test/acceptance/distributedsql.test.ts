import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { deleteOldEntries } from '../../src/server/audit/retention.ts';
import { textFor } from '../../src/server/store/migrations/dialects.ts';
import { MIGRATIONS } from '../../src/server/store/migrations/steps.ts';
import { openPostgresStore } from '../../src/server/store/postgres/store.ts';
import type { Broker } from '../../src/server/stream/relay/broker.ts';
import { Relay } from '../../src/server/stream/relay/relay.ts';
import { callSample, operations } from '../contract/operations.ts';
import { onPostgres, postgresTest, type TestDatabase } from '../support/postgres.ts';
import { testService } from '../support/service.ts';
import { type SqlGate, sqlGate } from '../support/sqlgate.ts';
import { molarIn } from './inprocess.ts';
import { connection, ORGANIZATION, PATIENT, type Served, serve, workplace, writeFixture } from './molar.ts';
import { connected, endListeners, listener, rename, until } from './streaming.ts';

/**
 * What databases that speak the protocol of PostgreSQL refuse, or take for something else, and where they say so. A day of
 * work has to do without. CockroachDB: "PostgreSQL compatibility" and "CREATE TABLE" of its documentation, docs pull request
 * 18154 (advisory locks do nothing), cockroach issue 46556 (ON COMMIT). YugabyteDB: "PostgreSQL compatibility", and issues
 * 5384 (LOCK TABLE), 1872 (LISTEN), 7926 (ON COMMIT). Citus: "SQL support and workarounds".
 */
const REFUSED =
  /^\s*(LISTEN|NOTIFY)\b|pg_(try_)?advisory|^\s*LOCK TABLE|ON COMMIT|\b(ctid|xmin)\b|DEFERRABLE|INHERITS|TABLESAMPLE|WITH RECURSIVE|^\s*(DECLARE|PREPARE TRANSACTION)/i;

/** How a table is keyed whose rows are of organizations, but whose key does not begin with them; and why. */
const KEYED_OTHERWISE: Readonly<Record<string, string>> = {
  audit_entries: 'one chain of all organizations, so that none can be cut off unnoticed; entries may be of none (D54)',
  audit_strays: 'as the chain from which they were moved',
  audit_patients: 'by patient first, then by organization: spread more than organizations are',
  organizations: 'it is what the others begin with',
  async_deliveries:
    'a queue of few rows, served in turn; numbered by its key, as in a folder. What is written names both',
  schema_backfills: 'one row for each table, while an upgrade is under way',
  import_lines: 'by the import first: it may be of several organizations, and its lines go when they are published',
  import_links: 'as the lines of the import',
};

/** What writes to, or locks, rows of many organizations at once; no request of an API waits for it. */
const CROSSING = [
  /^(DELETE FROM|UPDATE) audit_entries|^UPDATE log_heads/, // numbering and retention of the one chain
  /^SELECT org FROM organizations ORDER BY org FOR UPDATE/, // an upgrade
  /^UPDATE record_counts SET records = 0 WHERE table_name = \$1$/, // an upgrade
  /schema_backfills/, // an upgrade
];

/** What the first start uses beyond plain tables, and the word for it in `molar help operations`, where it is called unproved. */
const UNPROVED: readonly [RegExp, string][] = [
  [/^CREATE FUNCTION|^CREATE OR REPLACE FUNCTION/, 'functions'],
  [/^CREATE UNLOGGED/, 'UNLOGGED'],
  [/USING INDEX/, 'USING INDEX'],
  [/AS IDENTITY/, 'identity columns'],
  [/COLLATE "C"/, 'COLLATE "C"'],
  [/^CREATE TEMP TABLE/, 'temporary tables'],
  [/FOR UPDATE/, 'FOR UPDATE'],
];

let place: Awaited<ReturnType<typeof workplace>>;
const gates: SqlGate[] = [];
const running: Served[] = [];

beforeEach(async () => {
  place = await workplace();
});
afterEach(async () => {
  endListeners();
  for (const served of running.splice(0)) await served.stop('SIGKILL');
  for (const gate of gates.splice(0)) await gate.close();
  await place.remove();
});

async function gateTo({ url }: TestDatabase): Promise<SqlGate> {
  const gate = await sqlGate(url, REFUSED);
  gates.push(gate);
  return gate;
}

/** Every text that came to the gates, with single spaces. */
const sent = () => gates.flatMap(({ statements }) => [...statements].map((text) => text.replace(/\s+/g, ' ').trim()));

/** What was refused has to be what is tried only, by the first words. */
function expectOnlyTried(gate: SqlGate): void {
  const first = [...gate.refused].map((text) => /^\w+ \w+/.exec(text)?.[0]);
  expect(new Set(first)).toEqual(new Set(['SELECT pg_advisory_xact_lock', 'LISTEN molar_stream']));
}

/** Every operation, idempotent writes, the relay and every kind of retention. */
async function workInProcess(url: string): Promise<void> {
  const service = await testService(undefined, { database: url });
  for (const [id, tested] of operations()) {
    const called = await callSample(service, tested, { headers: { 'idempotency-key': id } });
    expect(called.status, called.text).toBe(tested.operation.success);
  }
  const broker: Broker = {
    broken: new AbortController().signal,
    publish: (_message, settled) => {
      setTimeout(() => settled(true));
      return true;
    },
    drained: async () => {},
    close: async () => {},
  };
  const target = { url: 'amqp://broker.example.com', exchange: 'molar.stream', name: 'broker:5672 /' };
  const relay = await Relay.start(service.service, target, { connected() {}, failed() {} }, async () => broker);
  await until('everything is relayed', () => relay.lag === 0);
  await relay.stop();
  service.clock.advance(10 * 365 * 24 * 60 * 60 * 1000);
  await service.service.stream.tidy();
  await deleteOldEntries(service.service.store, service.keeper, service.clock.now, 5);
  await service.close();
}

postgresTest(
  'every operation works without what distributed databases refuse, and says whose rows it writes',
  async (database) => {
    const gate = await gateTo(database);
    await workInProcess(gate.url);
    // The second start is that of a server which finds everything done.
    await (await openPostgresStore(gate.url)).close();
    expectOnlyTried(gate);

    const tables = await onPostgres(async (client) => {
      const { rows } = await client.query<{ table_name: string }>(
        `SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema() AND column_name = 'org'`,
      );
      return new Set(rows.map(({ table_name }) => table_name));
    }, database.url);
    const migrations = new Set(
      MIGRATIONS.flatMap(({ statements }) =>
        statements.map((each) => textFor(each, 'postgres')?.replace(/\s+/g, ' ').trim()),
      ),
    );
    const crossing = sent().filter((text) => {
      if (migrations.has(text) || CROSSING.some((known) => known.test(text))) return false;
      const written = /^(?:UPDATE|DELETE FROM) (\w+)/.exec(text) ?? /FROM (\w+)\b.* FOR UPDATE/.exec(text);
      return tables.has(written?.[1] ?? '') && !/\borg = (\$|\d)/.test(text);
    });
    expect(crossing).toEqual([]);

    const keys = await onPostgres(async (client) => {
      const { rows } = await client.query<{ name: string; columns: string[] }>(
        `SELECT t.relname AS name, array_agg(a.attname::text ORDER BY k.place) AS columns
        FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
        CROSS JOIN unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place)
        JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number
        WHERE i.indisunique AND t.relnamespace = current_schema()::regnamespace GROUP BY i.indexrelid, t.relname`,
      );
      return rows;
    }, database.url);
    const otherwise = keys.filter(({ name, columns }) => tables.has(name) && columns[0] !== 'org');
    expect([...new Set([...otherwise.map(({ name }) => name), 'organizations'])].sort()).toEqual(
      Object.keys(KEYED_OTHERWISE).sort(),
    );

    const help = await readFile(resolve(import.meta.dirname, '../../docs/help/operations.md'), 'utf8');
    const section = /## On a distributed database\n([\s\S]*?)\n## /.exec(help)?.[1] ?? '';
    for (const [pattern, word] of UNPROVED) {
      expect(
        sent().some((text) => pattern.test(text)),
        `${pattern} is sent`,
      ).toBe(true);
      expect(section).toContain(word);
    }
  },
);

postgresTest(
  'servers and commands work without it, and listeners hear what another server writes',
  async (database) => {
    const gate = await gateTo(database);
    const data = ['--database', gate.url, '--files', 'files'];
    await writeFixture(place.path, 600);
    const run = async (...args: string[]) => {
      const { code, stderr } = await molarIn(place.path, [...args, ...data]);
      expect(code, stderr).toBe(0);
    };
    await molarIn(place.path, ['server', 'migrate-schema', ...data.slice(0, 2)]);
    await run('server', 'import', 'fixture.ndjson', '--allow-credentials');
    for (let servers = 0; servers < 2; servers++) running.push(await serve(place.path, data));
    const [near, far] = running as [Served, Served];
    const heard = listener(place.path, ['--key', '*.*.PatientV1.UPDATE'], connection(near.url));
    await connected(near.url, 1);
    await rename(far.url, 'Polled');
    await until('the change is heard', () => heard.lines.some((line) => line.includes('"Polled"')));
    heard.child.kill();
    for (const served of running.splice(0)) expect(await served.stop()).toBe(0);
    await run('server', 'tokens', 'create', '--for', ORGANIZATION);
    await run('server', 'audit', 'patient', String(PATIENT));
    await run('server', 'audit', 'verify');
    await run('server', 'check', '--deep');
    await run('server', 'backup', 'copy');
    expectOnlyTried(gate);
  },
);
