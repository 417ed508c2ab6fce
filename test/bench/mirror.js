// The first load of a mirror: into a SQLite file, into PostgreSQL, and against a bare COPY of the very same rows.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ended } from './exporting.js';
import { importPatients } from './manypatients.js';
import { ORGANIZATION, TOKEN } from './practice.js';
import { start, withServer } from './processes.js';
import { onPostgresStore } from './stores.js';

/** Tables that hold the rows of patients. */
const TABLES = ['patients', 'patient_phones', 'patient_billing_types', 'patient_referred_patients'];

/** Measures first loads of 100,000 patients. */
export async function measure({ folder, signal, small, report }) {
  const patients = small ? 20_000 : 100_000;
  const rounds = small ? 2 : 5;
  const data = join(folder, 'data');
  const file = join(folder, 'practice.db');
  report.section(
    `A first load of a mirror: ${patients.toLocaleString('en')} patients`,
    'All fields, with the lists of each record and all indexes. The server and the database run on the same machine; auth, audit and rate limit are on. Each time is that of a process from its start to its end. The bare COPY reads the rows of the mirror from a file of its own format into tables with the same keys, then makes the same indexes.',
  );
  await importPatients(data, patients, signal);
  await withServer(['--data', data, '--rate-limit', '1000000'], {}, (url) =>
    onPostgresStore(folder, async ({ url: database }) => {
      const took = { sqlite: [], postgres: [], copy: [] };
      // The first round warms up.
      for (let round = -1; round < rounds; round++) {
        signal.throwIfAborted();
        for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
        const sqlite = await loaded(url, file);
        const postgres = await loaded(url, `${database}?schema=mirror`);
        const copy = await copied(folder, database);
        await sql(database, 'DROP SCHEMA mirror CASCADE; DROP SCHEMA bare CASCADE');
        if (round < 0) continue;
        took.sqlite.push(sqlite);
        took.postgres.push(postgres);
        took.copy.push(copy);
      }
      const rate = (seconds) => seconds.map((each) => patients / each);
      const unit = 'patients/s';
      const common = { theirs: rate(took.copy), against: 'COPY of the same rows', unit };
      report.ratio({
        what: 'mirror sync to PostgreSQL',
        ours: rate(took.postgres),
        ...common,
        budget: { atLeast: 0.5 },
      });
      report.ratio({ what: 'mirror sync to SQLite', ours: rate(took.sqlite), ...common });
    }),
  );
}

/** Seconds of a first load. */
async function loaded(url, to) {
  const env = { ...process.env, MOLAR_ORGANIZATION: ORGANIZATION, MOLAR_TOKEN: TOKEN, MOLAR_URL: url, no_proxy: '*' };
  const began = performance.now();
  const molar = start(['mirror', 'sync', 'patients', '--to', to, '--quiet', '--json'], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await ended(molar.child, 'molar mirror sync');
  return (performance.now() - began) / 1000;
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
  const key = table === 'patients' ? 'id' : 'patient_id, ordinal';
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
