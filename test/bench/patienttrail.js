// Who has seen a patient, asked of a long audit log on each store: reads, pages of lists, and reads of scattered patients.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { ownFolders } from './import.js';
import { finish, inFolder, say } from './processes.js';
import { openRaw } from './rawrows.js';
import { summary } from './results.js';
import { onStores } from './stores.js';

const PATIENTS = 20_000;
const PAGE = 100;
const ROUNDS = 5;

/** Of a hundred entries, 85 read one patient, 14 a page of a list, and one 20 patients that are far apart. */
const KIND = "CASE WHEN n % 100 < 85 THEN 'get' WHEN n % 100 < 99 THEN 'page' ELSE 'far' END";
const ONE = `((n * 7919) % ${PATIENTS} + 1)`;
const FIRST = `((n * 104729) % ${PATIENTS - PAGE} + 1)`;
const FAR = Array.from({ length: 20 }, (_, index) => `((n + ${index * 997}) % ${PATIENTS} + 1)`);

/** SQL that fills the log with so many entries, and the index by its own rule: patients, or blocks of 64 ids. */
function statements(entries, numbers) {
  const list = `CASE ${KIND} WHEN 'get' THEN '[' || ${ONE} || ']' WHEN 'page' THEN '[[' || ${FIRST} || ',' || (${FIRST} + ${PAGE - 1}) || ']]'
    ELSE '[' || ${FAR.join(" || ',' || ")} || ']' END`;
  const rows = (bucket, kind) => `SELECT ${bucket} AS bucket, n FROM ${numbers} WHERE ${KIND} = '${kind}'`;
  const block = (id) => `(-1 - (${id}) / 64)`;
  return [
    `INSERT INTO audit_entries (id, org, at, who, operation, ids, record_count, patients, hash)
      SELECT n + 1000, 1, '2026-01-01T00:00:00.000Z', 'token 0123456789ab', 'patients.list', ${list}, 1, ${list}, '' FROM ${numbers}`,
    `INSERT INTO audit_patients (bucket, org, entry) SELECT DISTINCT bucket, 1, n + 1000 FROM (
      ${[
        rows(ONE, 'get'),
        ...[0, 64, PAGE - 1].map((more) => rows(block(`${FIRST} + ${more}`), 'page')),
        ...FAR.map((id) => rows(block(id), 'far')),
      ].join(' UNION ALL ')}) AS found ORDER BY 1, 2, 3`,
    `UPDATE log_heads SET last_id = ${entries + 1000} WHERE name = 'audit'`,
  ];
}

async function fill(store, folder, entries) {
  if (store.name === 'SQLite') {
    const database = openRaw(join(folder, 'sqlite', 'molar.sqlite'));
    database.exec('CREATE TEMP TABLE numbers (n INTEGER PRIMARY KEY)');
    database.exec(
      `INSERT INTO numbers WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${entries}) SELECT n FROM c`,
    );
    for (const text of statements(entries, 'numbers')) database.exec(text);
    database.close();
    return;
  }
  const client = new pg.Client({ connectionString: store.flags[1], password: store.env.PGPASSWORD });
  await client.connect();
  try {
    const numbers = `generate_series(1::bigint, ${entries}::bigint) AS s(n)`;
    for (const text of statements(entries, numbers)) await client.query(text);
    await client.query('ANALYZE audit_entries, audit_patients');
  } finally {
    await client.end();
  }
}

/** Measures `server audit patient`, from the start of the command to its last entry, on a log of so many entries. */
export function measurePatientTrail(entries) {
  return inFolder(async (folder, signal) => {
    await onStores(folder, async (store) => {
      const env = { ...store.env, ...ownFolders(folder) };
      // Makes the store.
      const file = join(folder, 'organization.ndjson');
      writeFileSync(file, `${JSON.stringify({ type: 'Organization', id: 'long', timezone: 'UTC' })}\n`);
      await finish(['server', 'import', file, ...store.flags], env, () => {});
      await fill(store, folder, entries);
      for (const patient of [64, 9_999, PATIENTS + 1]) {
        const seconds = [];
        let found = 0;
        for (let round = 0; round < ROUNDS; round++) {
          signal.throwIfAborted();
          let text = '';
          const took = await finish(
            ['server', 'audit', 'patient', String(patient), '--json', ...store.flags],
            env,
            (chunk) => {
              text += chunk;
            },
          );
          seconds.push(took.seconds);
          found = JSON.parse(text).entries.length;
        }
        const { median, low, high } = summary(seconds);
        say(
          `${store.name}: patient ${patient} in ${entries.toLocaleString('en')} entries: ${found} found in ${median.toFixed(2)} s (${low.toFixed(2)}–${high.toFixed(2)})`,
        );
      }
    });
    return true;
  });
}
