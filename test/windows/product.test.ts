import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  connection,
  fixturePatients,
  molar,
  PATIENT,
  type Served,
  serve,
  workplace,
  writeFixture,
} from '../acceptance/molar.ts';

const COUNT = 300;
const SCAN = Buffer.concat([Buffer.from('%PDF-1.4\n'), randomBytes(200_000)]);

let place: Awaited<ReturnType<typeof workplace>>;
let running: Served | undefined;

beforeAll(async () => {
  place = await workplace();
  await writeFixture(place.path, COUNT);
  await writeFile(join(place.path, 'scan.pdf'), SCAN);
});

afterAll(async () => {
  await running?.stop();
  await place.remove();
});

const run = (...args: string[]) => molar(place.path, args, running === undefined ? {} : connection(running.url));

/** What a client sees: every patient as CSV, and the bytes of the one document. */
async function seen() {
  const list = await run('patients', 'list', '--fields', 'id,lastName,city', '--csv');
  const documents = JSON.parse((await run('documents', 'list', '--json')).stdout) as { id: number; name: string }[];
  const [scan] = documents.filter(({ name }) => name === 'scan.pdf');
  await run('documents', 'download', String(scan?.id), '--out', 'back.pdf', '--force');
  return { csv: list.stdout, scan: digest(await readFile(join(place.path, 'back.pdf'))) };
}

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** The table as it has to be, made of what was imported: by the rules of RFC 4180, and with formulas made harmless. */
function expectedCsv(city: (index: number) => string): string {
  const cell = (text: string) => (/[",]/.test(text) ? `"${text}"` : text.replace(/^=/, "'="));
  const rows = fixturePatients(COUNT).map(({ id, lastName }, index) => `${id},${cell(lastName)},${city(index)}\n`);
  return `id,lastName,city\n${rows.join('')}`;
}

test('the product is installed as Windows has it', async () => {
  expect((await run('--version')).stdout).toMatch(/^molar-cli\/\S+ win32-x64 node-v22\.\d+\.\d+\n$/);
});

test('a server that is ended at once has lost nothing that it acknowledged', async () => {
  running = await serve(place.path, ['--data', 'practice', '--import', 'fixture.ndjson']);
  expect(await run('documents', 'upload', 'scan.pdf', '--patient', String(PATIENT))).toMatchObject({ code: 0 });
  expect(await run('patients', 'update', String(PATIENT), '--city', 'Ærøskøbing', '--json')).toMatchObject({ code: 0 });
  // On Windows every signal is this one: nothing is written any more.
  await running.stop('SIGKILL');
  running = await serve(place.path, ['--data', 'practice']);
  const city = (index: number) => (index === 0 ? 'Ærøskøbing' : 'Exampleton');
  expect(await seen()).toEqual({ csv: expectedCsv(city), scan: digest(SCAN) });
});

test('a backup of the running server is restored to what the server had', async () => {
  const before = await seen();
  expect(await run('server', 'backup', 'backup', '--data', 'practice')).toMatchObject({ code: 0 });
  await running?.stop();
  running = undefined;
  expect(await run('server', 'restore', 'backup', '--data', 'restored')).toMatchObject({ code: 0 });
  expect(await run('server', 'check', '--data', 'restored')).toMatchObject({ code: 0 });
  running = await serve(place.path, ['--data', 'restored']);
  expect(await seen()).toEqual(before);
});

test('an export has every record, and a receipt that fits it', async () => {
  expect(await run('export', 'patients', 'documents', '--to', 'exported')).toMatchObject({ code: 0 });
  expect(await run('export', 'verify', 'exported/patients.csv')).toMatchObject({ code: 0 });
  const rows = (await readFile(join(place.path, 'exported', 'patients.csv'), 'utf8')).trimEnd().split('\n');
  expect(rows.slice(1).map((row) => Number(row.split(',')[0]))).toEqual(fixturePatients(COUNT).map(({ id }) => id));
  expect((await readdir(join(place.path, 'exported'))).filter((name) => name.endsWith('.part'))).toEqual([]);
});

test('a copy of the practice is queried', async () => {
  expect(await run('mirror', 'sync', '--to', 'mirror.db')).toMatchObject({ code: 0 });
  const sql = 'SELECT count(*) AS n, min(id) AS first FROM patients';
  expect(await run('query', sql, '--from', 'mirror.db', '--csv')).toEqual({
    code: 0,
    stdout: `n,first\n${COUNT},${PATIENT}\n`,
    stderr: '',
  });
});
