// The first load of a mirror: into a SQLite file, against an export of the same rows to CSV; into PostgreSQL, against a
// bare COPY of the very same rows; a night without changes; and the memory that a large practice takes.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { enlarge } from './enlarge.js';
import { ended } from './exporting.js';
import { ORGANIZATION, TOKEN, writePractice } from './practice.js';
import { finish, start, withServer } from './processes.js';
import { onPostgresStore } from './stores.js';

const RESOURCES = ['patients', 'transactions'];

/** Tables that hold their rows. */
const TABLES = [
  ...['patients', 'patient_phones', 'patient_billing_types', 'patient_referred_patients'],
  ...['transactions', 'transaction_distributions', 'transaction_transaction_tags', 'transaction_reason_tags'],
];

/** Measures first loads of a practice, and one of a practice 20 times as large. */
export async function measure({ folder, signal, small, report }) {
  const practice = small ? { patients: 5000, transactions: 20_000 } : { patients: 50_000, transactions: 200_000 };
  const rounds = small ? 2 : 5;
  const data = join(folder, 'data');
  await importPractice(data, practice, signal);
  report.section(
    `A first load of a mirror: ${told(practice)}`,
    'All fields, with the lists of each record and all indexes. The server and the database run on the same machine; auth, audit and rate limit are on. Each time is that of a process from its start to its end. The bare COPY reads the rows of the mirror from a file of its own format into tables with the same keys, then makes the same indexes.',
  );
  await serving(data, (url) =>
    onPostgresStore(folder, async ({ url: database }) => {
      const took = { sqlite: [], csv: [], postgres: [], copy: [], night: [], memory: [] };
      let rows = 0;
      // The first round warms up.
      for (let round = -1; round < rounds; round++) {
        signal.throwIfAborted();
        const measured = await measuredOnce(folder, url, database);
        rows = measured.rows;
        if (round < 0) continue;
        for (const [name, values] of Object.entries(took)) values.push(measured[name]);
      }
      const rate = (seconds) => seconds.map((each) => rows / each);
      const csv = { theirs: took.csv, against: 'export --format csv', unit: 's' };
      report.ratio({ what: 'mirror sync', ours: took.sqlite, ...csv });
      report.value({ what: 'mirror sync, rows', values: rate(took.sqlite), unit: 'rows/s' });
      report.value({ what: 'mirror sync, memory', values: took.memory, unit: 'MB' });
      report.value({ what: 'a night without changes', values: took.night, unit: 's' });
      report.ratio({
        ...{ what: 'mirror sync to PostgreSQL', ours: rate(took.postgres), theirs: rate(took.copy) },
        ...{ against: 'COPY of the same rows', unit: 'rows/s' },
      });
    }),
  );
  const times = small ? 2 : 20;
  enlarge(data, practice, times);
  const large = { patients: practice.patients * times, transactions: practice.transactions * times };
  report.section(`A first load of a mirror: ${told(large)}`, 'As above, into a SQLite file; measured once.');
  await serving(data, async (url) => {
    const { seconds, peak } = await loaded(url, join(folder, 'large.db'));
    report.value({ what: 'mirror sync, memory', values: [peak], unit: 'MB' });
    report.value({ what: 'mirror sync, time', values: [seconds], unit: 's' });
  });
}

async function importPractice(data, { patients, transactions }, signal) {
  const file = `${data}.ndjson`;
  await writePractice(file, patients, transactions, signal);
  await finish(['server', 'import', file, '--data', data], {}, () => undefined);
  rmSync(file);
}

const serving = (data, work) => withServer(['--data', data, '--rate-limit', '1000000'], {}, work);

const told = ({ patients, transactions }) =>
  `${patients.toLocaleString('en')} patients, ${transactions.toLocaleString('en')} transactions`;

/** One round: seconds of each, megabytes of the load into SQLite, and the rows that it made. */
async function measuredOnce(folder, url, database) {
  const file = join(folder, 'practice.db');
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  const files = join(folder, 'csv');
  rmSync(files, { recursive: true, force: true });
  const { seconds: csv } = await ran(url, ['export', ...RESOURCES, '--format', 'csv', '--to', files, '--quiet']);
  const { seconds: sqlite, peak: memory } = await loaded(url, file);
  const { seconds: night } = await loaded(url, file);
  const { seconds: postgres } = await loaded(url, `${database}?schema=mirror`);
  const copy = await copied(folder, database);
  await sql(database, 'DROP SCHEMA mirror CASCADE; DROP SCHEMA bare CASCADE');
  return { csv, sqlite, memory, night, postgres, copy, rows: rowsOf(file) };
}

/** Rows of the tables of a mirror. */
function rowsOf(file) {
  const mirror = new Database(file, { readonly: true });
  const counts = TABLES.map((table) => mirror.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  mirror.close();
  return counts.reduce((sum, count) => sum + count, 0);
}

const loaded = (url, to) => ran(url, ['mirror', 'sync', ...RESOURCES, '--to', to, '--quiet', '--json']);

/** Seconds that molar takes, and its megabytes at most. */
async function ran(url, args) {
  const env = { ...process.env, MOLAR_ORGANIZATION: ORGANIZATION, MOLAR_TOKEN: TOKEN, MOLAR_URL: url, no_proxy: '*' };
  const began = performance.now();
  const molar = start(args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  await ended(molar.child, `molar ${args.slice(0, 2).join(' ')}`);
  return { seconds: (performance.now() - began) / 1000, peak: molar.peak };
}

/** Seconds of a COPY of the rows of the mirror into tables of the same form. */
async function copied(folder, database) {
  const files = TABLES.map((table) => join(folder, `${table}.copy`));
  const out = TABLES.map((table, at) => `\\copy mirror.${table} TO '${files[at]}'`);
  await psql(database, ['CREATE SCHEMA bare', ...out, ...TABLES.map(bare)]);
  const began = performance.now();
  await psql(database, [
    'BEGIN',
    ...TABLES.map((table, at) => `\\copy bare.${table} FROM '${files[at]}'`),
    ...TABLES.map(indexed),
    'COMMIT',
  ]);
  return (performance.now() - began) / 1000;
}

const bare = (table) => `CREATE TABLE bare.${table} (LIKE mirror.${table} INCLUDING CONSTRAINTS); ${keyed(table)}`;

function keyed(table) {
  const key = RESOURCES.includes(table) ? 'id' : `${table.split('_')[0]}_id, ordinal`;
  return `ALTER TABLE bare.${table} ADD PRIMARY KEY (${key})`;
}

/** Makes the indexes that the table of the mirror has, besides its key. */
const indexed = (table) => `DO $$ DECLARE i record; BEGIN
  FOR i IN SELECT replace(pg_get_indexdef(indexrelid), ' ON mirror.', ' ON bare.') AS text FROM pg_index
    WHERE indrelid = 'mirror.${table}'::regclass AND NOT indisprimary LOOP EXECUTE i.text; END LOOP; END $$`;

const sql = (database, text) => psql(database, [text]);

async function psql(database, commands) {
  const words = commands.flatMap((command) => ['-c', command]);
  const child = spawn(
    'psql',
    ['-q', '-X', '-v', 'ON_ERROR_STOP=1', database, '-c', 'SET client_min_messages = warning', ...words],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  await ended(child, 'psql');
}
