import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sql from 'sql-template-tag';
import { expect, test } from 'vitest';
import { exit, hasEnded, serve, start } from '../acceptance/molar.ts';
import { type Home, makeOlder, postgresHome, sqliteHome } from '../server/store/schema/olderpractice.ts';
import { testDatabase } from '../support/postgres.ts';
import { say, secondsSince, setting } from './figures.ts';

const ROWS = setting('MOLAR_TORTURE_UPGRADE_ROWS', 1_000_000);
const KILLS = setting('MOLAR_TORTURE_UPGRADE_KILLS', 3);

/** Milliseconds after which a server that has gone on with the rows is killed. */
const KILLED_AFTER_MS = 1000;

/** Patients that are stored one by one; the others are copies of their rows. */
const FIRST = 1000;

/** Copies the first patients, with ids that are higher by `added`. */
function copies(count: number, added: number): string {
  return `INSERT INTO patients (org, id, first_name, first_name_fold, gender, patient_status, preferred_location_id, json)
      SELECT org, id + ${added}, first_name, first_name_fold, gender, patient_status, preferred_location_id,
        '{"id":' || (id + ${added}) || substr(json, instr(json, ',')) FROM patients WHERE org = 1 AND id <= ${count}`;
}

async function enlarge(home: Home): Promise<void> {
  for (let rows = FIRST; rows < ROWS; rows *= 2) {
    const text = copies(Math.min(rows, ROWS - rows), rows);
    await home.script({ sqlite: `PRAGMA synchronous = OFF; ${text}`, postgres: text });
  }
}

/** The most memory that a process had, in MB. */
function peakMegabytes(pid: number | undefined): number {
  const [, kilobytes = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}

async function upgradeOf(home: Home, folder: string, args: readonly string[]): Promise<void> {
  await makeOlder(home, FIRST);
  await enlarge(home);
  for (let kill = 0, last = 0; kill < KILLS; kill++) {
    const child = start(folder, ['serve', '--port', '0', ...args]);
    while (!hasEnded(child) && (await home.rowsDone()) <= last) await sleep(100);
    await sleep(KILLED_AFTER_MS);
    child.kill('SIGKILL');
    await exit(child);
    const reached = await home.rowsDone();
    say(`${home.dialect}: killed after ${reached.toLocaleString('en')} rows`);
    expect(reached).toBeGreaterThan(last);
    last = reached;
  }
  const began = performance.now();
  const served = await serve(folder, args);
  say(`${home.dialect}: ready after ${secondsSince(began)} s more, ${peakMegabytes(served.child.pid)} MB at most`);
  await served.stop();
  const again = performance.now();
  await (await serve(folder, args)).stop();
  say(`${home.dialect}: with nothing to do ready after ${((performance.now() - again) / 1000).toFixed(1)} s`);
  const store = await home.open();
  const wrong = sql`SELECT COUNT(*) AS found FROM patients WHERE last_name_fold IS NULL OR date_of_birth IS NULL`;
  expect(await store.read.get(wrong)).toEqual({ found: 0 });
  expect(await store.read.get(sql`SELECT COUNT(*) AS found FROM patients WHERE org = 1`)).toEqual({ found: ROWS });
  expect(await store.read.all(sql`SELECT table_name FROM schema_backfills`)).toEqual([]);
  await store.close();
}

test('a SQLite practice of an earlier molar is upgraded through kills', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'molar-upgrade-'));
  const data = join(folder, 'data');
  try {
    await upgradeOf(sqliteHome(data), folder, ['--data', data]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a PostgreSQL practice of an earlier molar is upgraded through kills', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'molar-upgrade-'));
  const database = await testDatabase();
  try {
    await upgradeOf(postgresHome(database.url), folder, ['--database', database.url, '--files', 'files']);
  } finally {
    await database.drop();
    await rm(folder, { recursive: true });
  }
});
