import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadDriver } from '../../src/sqlite/open.ts';
import { OWNER_ONLY } from '../support/capabilities.ts';
import { makeMirror } from '../support/mirrorfile.ts';
import { isRunning } from '../support/processes.ts';
import { molarIn } from './inprocess.ts';
import {
  connection,
  exit,
  molar,
  PATIENT,
  serve,
  start,
  text,
  treatsSignals,
  workplace,
  writeFixture,
} from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;

beforeAll(async () => {
  place = await workplace();
  makeMirror(join(place.path, 'mirror.db'));
});

afterAll(() => place.remove());

const query = (...args: string[]) => molarIn(place.path, ['query', ...args, '--from', 'mirror.db']);

const VALUES = "SELECT id, first_name, balance_cents AS cents, balance_cents AS cents, x'00ff' AS bytes FROM patients";

test.each([
  ['csv', "id,first_name,cents,cents_2,bytes\n5,Ann,-1250,-1250,AP8=\n9007199254740993,'=Bob,,,AP8=\n"],
  ['tsv', "id\tfirst_name\tcents\tcents_2\tbytes\n5\tAnn\t-1250\t-1250\tAP8=\n9007199254740993\t'=Bob\t\t\tAP8=\n"],
  [
    'ndjson',
    '{"id":5,"first_name":"Ann","cents":-1250,"cents_2":-1250,"bytes":"AP8="}\n{"id":9007199254740993,"first_name":"=Bob","cents":null,"cents_2":null,"bytes":"AP8="}\n',
  ],
  [
    'json',
    '[\n{"id":5,"first_name":"Ann","cents":-1250,"cents_2":-1250,"bytes":"AP8="},\n{"id":9007199254740993,"first_name":"=Bob","cents":null,"cents_2":null,"bytes":"AP8="}\n]\n',
  ],
])('%s has every value, whole numbers with all their digits', async (format, stdout) => {
  expect(await query(VALUES, '--format', format)).toEqual({ code: 0, stdout, stderr: '' });
});

test('a pipe gets csv, with a header also where there are no rows', async () => {
  expect(await query('SELECT id, first_name FROM patients WHERE 0')).toMatchObject({
    code: 0,
    stdout: 'id,first_name\n',
  });
  expect(await query('SELECT id FROM patients', '--no-header', '--limit', '1')).toMatchObject({ stdout: '5\n' });
  expect(await query('SELECT first_name FROM patients', '--no-escape-formulas')).toMatchObject({
    stdout: 'first_name\nAnn\n=Bob\n',
  });
});

test('a workbook has numbers as numbers, cents as dollars, and numbers that it would round as text', async () => {
  const { default: readSheet } = await import('read-excel-file/node');
  expect(await query('SELECT balance_cents, id * 1 AS whole FROM patients', '--out', 'out.xlsx')).toMatchObject({
    code: 0,
  });
  const [sheet] = await readSheet(join(place.path, 'out.xlsx'));
  expect(sheet?.data ?? []).toEqual([
    ['balance', 'whole'],
    [-12.5, 5],
    [null, '9007199254740993'],
  ]);
  expect((await stat(join(place.path, 'out.xlsx'))).mode & 0o777).toBe(OWNER_ONLY.file);
});

test('the statement comes from the line, a file, standard input or the saved ones, one of them', async () => {
  const config = join(place.path, 'config');
  await mkdir(join(config, 'queries'), { recursive: true });
  await writeFile(join(config, 'queries', 'first-names.sql'), 'SELECT first_name FROM patients WHERE id = :id;\n');
  await writeFile(join(place.path, 'q.sql'), 'SELECT 2 AS two');
  const run = (args: string[], input = '') =>
    molarIn(place.path, ['query', ...args, '--from', 'mirror.db'], { MOLAR_CONFIG_DIR: config }, input);
  expect(await run(['--file', 'q.sql'])).toMatchObject({ code: 0, stdout: 'two\n2\n' });
  expect(await run(['--file', '-'], 'SELECT 3 AS three')).toMatchObject({ code: 0, stdout: 'three\n3\n' });
  expect(await run(['--name', 'first-names', '--param', 'id=5'])).toMatchObject({
    code: 0,
    stdout: 'first_name\nAnn\n',
  });
  expect(await run(['--name', 'first-name'])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('Did you mean first-names?'),
  });
  expect(await run(['--name', '../config'])).toMatchObject({ code: 4 });
  const named = await molarIn(place.path, ['autocomplete', 'bash', '--queries'], { MOLAR_CONFIG_DIR: config });
  expect(named).toEqual({ code: 0, stdout: 'first-names\n', stderr: '' });
  expect(await run(['--file', 'none.sql'])).toMatchObject({ code: 9 });
  expect(await run([])).toMatchObject({ code: 2 });
  expect(await run(['SELECT 1', '--file', 'q.sql'])).toMatchObject({ code: 2 });
});

test.each([
  ['SELECT first_nam FROM patients', 2, 'line 1, column 8. Did you mean first_name?'],
  ['SELECT id\nFROM patients p WERE id = 5', 2, 'line 2, column 17'],
  ['SELECT * FROM patient', 4, 'Did you mean patients?'],
  ['SELECT * FROM appointments', 9, 'molar mirror sync appointments'],
  ['DELETE FROM patients', 2, 'SELECT'],
  ['SELECT 1; SELECT 2', 2, 'more than one statement'],
  ['SELECT :id', 2, '--param id=VALUE'],
])('%s ends with %i', async (sql, code, words) => {
  const before = createHash('sha256')
    .update(await readFile(join(place.path, 'mirror.db')))
    .digest('hex');
  const failed = await query(sql, '--json');
  expect(failed).toMatchObject({ code, stdout: '' });
  expect(JSON.parse(failed.stderr).error).toMatchObject({ exitCode: code });
  expect(failed.stderr).toContain(words);
  expect(
    createHash('sha256')
      .update(await readFile(join(place.path, 'mirror.db')))
      .digest('hex'),
  ).toBe(before);
});

test('--partial reads what is there, and a parameter without a use is refused', async () => {
  expect(await query('SELECT count(*) AS n FROM appointments', '--partial')).toMatchObject({
    code: 0,
    stdout: 'n\n0\n',
  });
  expect(await query('SELECT 1', '--param', 'id=5')).toMatchObject({ code: 2 });
});

test('without --from it is the mirror of the profile, and where there is none 4 and how to make it', async () => {
  const config = join(place.path, 'own');
  const run = (env: Record<string, string>) =>
    molarIn(place.path, ['query', 'SELECT count(*) AS n FROM patients'], env);
  expect(await run({ MOLAR_CONFIG_DIR: config })).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('molar mirror sync'),
  });
  expect(await readdir(place.path)).not.toContain('own');
  await mkdir(join(config, 'mirror'), { recursive: true });
  await copyFile(join(place.path, 'mirror.db'), join(config, 'mirror', 'default.db'));
  expect(await run({ MOLAR_CONFIG_DIR: config })).toMatchObject({ code: 0, stdout: 'n\n2\n' });
  await mkdir(join(place.path, 'data', 'molar', 'mirror'), { recursive: true });
  await copyFile(join(place.path, 'mirror.db'), join(place.path, 'data', 'molar', 'mirror', 'default.db'));
  expect(await run({ MOLAR_CONFIG_DIR: '', XDG_DATA_HOME: join(place.path, 'data') })).toMatchObject({ code: 0 });
});

/** Never ends, and has no row. */
const ENDLESS = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n WHERE x < 0';

/** Has three rows, and looks for a fourth without end. */
const THREE = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n WHERE x <= 3 OR x < 0';

test('a query that takes longer than --timeout ends with 7, whole or nothing', async () => {
  const line = ['query', THREE, '--from', 'mirror.db', '--timeout', '1s', '--out', 'three.csv'];
  expect(await molar(place.path, line)).toMatchObject({ code: 7, stdout: '' });
  expect((await readdir(place.path)).filter((name) => name.startsWith('three'))).toEqual([]);
});

test('ids beyond 2^53 go to the process that reads, and come back, exactly', async () => {
  const sql = 'SELECT id, first_name FROM patients WHERE id = :id';
  const line = ['query', sql, '--from', 'mirror.db', '--param', 'id=9007199254740993', '--csv'];
  expect(await molar(place.path, [...line, '--no-escape-formulas'])).toMatchObject({
    code: 0,
    stdout: 'id,first_name\n9007199254740993,=Bob\n',
  });
});

test('no row beyond --limit is waited for', async () => {
  expect(await query(THREE, '--limit', '3')).toMatchObject({ code: 0, stdout: 'x\n1\n2\n3\n' });
});

test.each(['the command alone', 'both, the process that reads first'])(
  'a signal to %s ends a query in the middle of a row',
  async (to) => {
    const child = start(place.path, ['query', ENDLESS, '--from', 'mirror.db']);
    const [stdout, stderr, ended] = [text(child.stdout), text(child.stderr), exit(child)];
    await treatsSignals(child);
    // Elsewhere than on Linux it may be that the signal comes before the query runs.
    if (existsSync('/proc/self/status')) await expect.poll(() => childrenOf(child.pid)).toHaveLength(1);
    const [reader] = await childrenOf(child.pid);
    // It starts in a fifth of this; from then on it looks for a row, and hears nothing.
    if (reader !== undefined) await expect.poll(() => secondsOf(reader)).toBeGreaterThan(0.5);
    // Ctrl+C goes to both, in whichever order.
    if (to !== 'the command alone' && reader !== undefined) {
      process.kill(reader, 'SIGINT');
      await expect.poll(() => isRunning(reader)).toBe(false);
    }
    child.kill('SIGINT');
    expect([await ended, await stdout, await stderr]).toEqual([130, '', expect.stringContaining('Interrupted')]);
    await expect.poll(() => isRunning(reader)).toBe(false);
  },
);

async function childrenOf(pid: number | undefined): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return children.split(' ').filter(Boolean).map(Number);
}

/** Processor time of a process. */
async function secondsOf(pid: number): Promise<number> {
  const [, fields = ''] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ');
  const [user, system] = fields.split(' ').slice(11, 13).map(Number);
  return ((user ?? 0) + (system ?? 0)) / 100;
}

test.each([
  ['csv', 1],
  ['json', 2],
])('rows of 60 MB fit into memory that could not hold them, as %s', async (format, more) => {
  const rows = 10_000;
  const sql = `WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < ${rows}) SELECT x, printf('%06000d', x) AS number FROM n`;
  const child = start(place.path, ['query', sql, '--from', 'mirror.db', '--format', format], {
    NODE_OPTIONS: '--max-old-space-size=48',
  });
  let lines = 0;
  for await (const chunk of child.stdout ?? []) lines += String(chunk).split('\n').length - 1;
  expect([await exit(child), lines]).toEqual([0, rows + more]);
});

test('--fresh syncs first what is older or missing, and a real sync gives what the query reads', async () => {
  await writeFixture(place.path, 30);
  const served = await serve(place.path, ['--data', './d', '--import', 'fixture.ndjson']);
  const run = (sql: string, ...args: string[]) =>
    molarIn(place.path, ['query', sql, '--from', 'real.db', ...args], connection(served.url));
  try {
    expect(await run('SELECT 1')).toMatchObject({ code: 4 });
    expect(await run('SELECT count(*) AS n FROM patients', '--fresh', '15m')).toEqual({
      code: 0,
      stdout: 'n\n30\n',
      stderr: '',
    });
  } finally {
    await served.stop();
  }
  // Young enough: nobody is asked.
  const phones = 'SELECT number FROM patient_phones WHERE patient_id = :id';
  expect(await run(phones, '--fresh', '1d', '--param', `id=${PATIENT}`)).toMatchObject({
    code: 0,
    stdout: 'number\n(801) 555-0123\n',
  });
  const database = new (loadDriver())(join(place.path, 'real.db'));
  database.exec("UPDATE _mirror SET as_of = '2026-01-01T00:00:00.000Z'");
  database.close();
  expect(await run('SELECT 1', '--fresh', '1d', '--max-retries', '0')).toMatchObject({ code: 8, stdout: '' });
  const exported = await molarIn(place.path, ['mirror', 'export', 'patients', '--from', 'real.db', '--to', 'files']);
  expect(exported).toMatchObject({ code: 0 });
  expect((await readFile(join(place.path, 'files', 'patients.csv'), 'utf8')).split('\n')).toHaveLength(32);
});
