import { existsSync } from 'node:fs';
import { link, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openConnection } from '../../src/sqlite/open.ts';
import { onPostgres, testDatabase } from '../support/postgres.ts';
import { testPostgres } from '../support/services.ts';
import { molarIn } from './inprocess.ts';
import {
  exit,
  fixturePatients,
  hasEnded,
  ORGANIZATION,
  PATIENT,
  type Served,
  serve,
  start,
  TOKEN,
  workplace,
  writeFixture,
} from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
const running: Served[] = [];

async function started(...args: string[]): Promise<Served> {
  const served = await serve(place.path, args);
  running.push(served);
  return served;
}

const run = (...args: string[]) => molarIn(place.path, ['server', ...args]);

beforeEach(async () => {
  place = await workplace();
  await writeFixture(place.path, 20);
});

afterEach(async () => {
  for (const served of running.splice(0)) await served.stop('SIGKILL');
  await place.remove();
});

/** Waits until something is so, five minutes at most. */
async function until(what: () => boolean | Promise<boolean>, everyMs = 5): Promise<void> {
  const end = Date.now() + 300_000;
  while (!(await what())) {
    if (Date.now() > end) throw new Error('It did not come to be.');
    await sleep(everyMs);
  }
}

interface Made {
  readonly id: number;
}

async function request(url: string, method: string, path: string, body?: unknown): Promise<Made> {
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    'organization-id': ORGANIZATION,
    'content-type': 'application/json',
  };
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status >= 300) throw new Error(text);
  return (JSON.parse(text) as { data: Made }).data;
}

/** Writes until it is told to end: patients, and documents of which every second is deleted again. */
function writing(url: string) {
  const { type: _, organizationId: __, id: ___, ...patient } = fixturePatients(1)[0] as Record<string, unknown>;
  const counts = { patients: 0, documents: 0 };
  let ended = false;
  const content = Buffer.from(`%PDF-1.4\n${'x'.repeat(2_000)}\n%%EOF\n`).toString('base64');
  const writers = [
    async () => {
      await request(url, 'POST', '/patients', patient);
      counts.patients++;
    },
    async () => {
      const first = await request(url, 'POST', '/documents', { name: 'kept', mimeType: 'PDF', file: { content } });
      counts.documents++;
      const second = await request(url, 'POST', '/documents', { name: 'gone', mimeType: 'PDF', file: { content } });
      await request(url, 'DELETE', `/documents/${second.id}`);
      if (first.id % 7 !== 0) return;
      await request(url, 'DELETE', `/documents/${first.id}`);
      counts.documents--;
    },
  ].map(async (write) => {
    // Something is written all the time that a backup takes; it need not be as much as can be.
    while (!ended) {
      await write();
      await sleep(5);
    }
  });
  return {
    counts,
    async stop() {
      ended = true;
      await Promise.all(writers);
    },
  };
}

test('of data that a server writes to, a check finds no problem, and a backup is one state, whole, with every file', async () => {
  const imports = ['--import', 'fixture.ndjson'];
  const { url, stop } = await started('--data', 'd', ...imports, '--max-text', '77');
  // The limit of texts is in the description of the API, too.
  expect(await (await fetch(`${url}/openapi.json`)).text()).toContain('"maxLength":77');
  const sound = await run('check', '--data', 'd');
  expect(sound).toMatchObject({ code: 0, stderr: '' });
  expect(sound.stdout).toMatch(/^check +checked +problems +what\n/);
  expect(sound.stdout).toContain(`No problems in ${join(place.path, 'd')} (in use by a server).`);

  const writers = writing(url);
  await until(() => writers.counts.patients > 0 && writers.counts.documents > 0);
  const backup = await run('backup', 'copy', '--data', 'd', '--json');
  expect({ code: backup.code, stderr: backup.stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(backup.stdout)).toMatchObject({ checked: true, problems: [] });
  await writers.stop();
  expect((await run('check', '--data', 'copy', '--deep')).stdout).toContain('No problems in');
  const patients = patientsIn('copy');
  expect(patients).toBeGreaterThan(20);
  expect(patients).toBeLessThanOrEqual(20 + writers.counts.patients);
  const deep = JSON.parse((await run('check', '--data', 'd', '--deep', '--json')).stdout);
  expect(deep).toMatchObject({ ok: true, served: true, problems: [], repaired: null, exitCode: 0 });
  await stop('SIGKILL');

  const database = join(place.path, 'copy', 'molar.sqlite');
  await link(database, join(place.path, 'elsewhere'));
  expect((await run('restore', 'copy', '--data', 'restored')).code).toBe(9);
  expect(existsSync(join(place.path, 'restored'))).toBe(false);
  await rm(database);
  for (const [data, said] of [
    ['copy', 'There is no database'],
    ['nowhere', 'No such data folder: nowhere'],
  ] as const) {
    const refused = { code: 9, stdout: '', stderr: expect.stringContaining(said) };
    expect(await run('check', '--data', data)).toMatchObject(refused);
  }
});

function patientsIn(data: string): number {
  const database = openConnection(join(place.path, data, 'molar.sqlite'), { readonly: true });
  const { count } = database.prepare('SELECT count(*) AS count FROM patients').get() as { count: number };
  database.close();
  return count;
}

/** So many that copying them takes a while. */
const DOCUMENTS = 300;

/** Writes an import file with documents of the first patient. */
async function writeDocuments(name: string): Promise<void> {
  const content = Buffer.from(`%PDF-1.4\n${'x'.repeat(1_000)}\n%%EOF\n`).toString('base64');
  const lines = Array.from({ length: DOCUMENTS }, (_, at) => ({
    ...{ type: 'DocumentV1', organizationId: ORGANIZATION, id: 9_000_000_000_001 + at, name: `scan ${at}`, tags: [] },
    ...{ mimeType: 'PDF', ownerPatient: { id: PATIENT }, file: { content } },
  }));
  await writeFile(join(place.path, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

test('a backup that is killed, or interrupted, leaves nothing under its name; the next one is whole', async () => {
  await writeDocuments('documents.ndjson');
  for (const file of ['fixture.ndjson', 'documents.ndjson']) {
    expect((await run('import', file, '--data', 'd', '--allow-credentials')).code).toBe(0);
  }
  for (const signal of ['SIGKILL', 'SIGINT'] as const) {
    const child = start(place.path, ['server', 'backup', signal, '--data', 'd']);
    await until(() => existsSync(join(place.path, `${signal}.part`, 'molar.sqlite')));
    child.kill(signal);
    expect(await exit(child)).toBe(signal === 'SIGINT' ? 130 : null);
    expect(await readdir(place.path)).not.toContain(signal);
  }
  for (const signal of ['SIGKILL', 'SIGINT'])
    expect(await run('backup', signal, '--data', 'd')).toMatchObject({ code: 0 });
  expect((await run('check', '--data', 'SIGKILL', '--deep')).stdout).toContain('No problems in');
  expect(await run('backup', 'SIGKILL', '--data', 'd')).toMatchObject({
    code: 9,
    stdout: '',
    stderr: expect.stringContaining('is there already'),
  });
  expect((await run('restore', 'SIGKILL', '--data', 'r')).stdout).toMatch(/^Restored [\d,]+ rows and 300 files to /);
});

/** Several of the pages that a copy is made in. */
const PATIENTS = 1100;

test('a migration that is killed again and again comes to its end, with all rows once', async (context) => {
  if ((await testPostgres()) === undefined) return context.skip('needs PostgreSQL');
  const database = await testDatabase();
  const named = (name: string) => `${database.url}&application_name=${database.schema}-${name}`;
  const to = named('last');
  try {
    await writeFixture(place.path, PATIENTS);
    const tag = { type: 'TransactionTagV1', organizationId: ORGANIZATION, id: 1, tagText: 'x', tagType: 'PAYMENT_TAG' };
    await writeFile(join(place.path, 'fixture.ndjson'), JSON.stringify({ ...tag, isPredefined: false }), { flag: 'a' });
    expect((await run('import', 'fixture.ndjson', '--data', 'd', '--allow-credentials')).code).toBe(0);
    expect((await run('migrate-schema', '--database', to)).code).toBe(0);
    await onPostgres(async (client) => {
      // The last thing that a copy would write: none comes to its end.
      await client.query('BEGIN; LOCK TABLE transactiontags IN SHARE MODE');
      for (const [name, reached] of [
        ['first', 'SELECT 1 FROM patients'],
        [
          'second',
          `SELECT 1 FROM pg_stat_activity WHERE application_name LIKE '%-second' AND wait_event_type = 'Lock'`,
        ],
      ] as const) {
        const child = start(place.path, ['server', 'migrate', '--from', 'd', '--to', named(name)]);
        const hasReached = async () => {
          // Within a transaction the activity is otherwise what it was at first.
          await client.query('SELECT pg_stat_clear_snapshot()');
          return (await client.query(reached)).rows.length > 0;
        };
        await until(async () => hasEnded(child) || (await hasReached()), 20);
        child.kill('SIGKILL');
        expect(await exit(child)).toBeNull();
        expect((await run('check', '--database', to, '--files', 'd/files')).code).toBe(9);
      }
    }, database.url);
    const done = await run('migrate', '--from', 'd', '--to', to, '--json');
    expect({ code: done.code, stderr: done.stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(done.stdout)).toMatchObject({
      files: null,
      tables: { patients: PATIENTS, transactiontags: 1 },
      problems: [],
    });
    expect(await run('check', '--database', to, '--files', 'd/files')).toMatchObject({ code: 0 });
    expect(await run('migrate', '--from', 'd', '--to', to)).toMatchObject({
      code: 9,
      stdout: '',
      stderr: expect.stringContaining('is not empty'),
    });
  } finally {
    await database.drop();
  }
});

test('--max-text is the limit of an import', async () => {
  const lines = [
    { type: 'Organization', id: 'texts', timezone: 'UTC' },
    { type: 'Location', organizationId: 'texts', id: 1, name: 'longer than six' },
    {
      type: 'EventV1',
      organizationId: 'texts',
      id: 1,
      title: 'Meeting',
      start: '2026-03-02T17:00:00Z',
      location: { id: 1 },
      description: '123456',
    },
  ];
  await writeFile(join(place.path, 'texts.ndjson'), lines.map((line) => JSON.stringify(line)).join('\n'));
  const refused = await run('import', 'texts.ndjson', '--data', 'texts', '--max-text', '5');
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('line 3, description')]);
  expect((await run('import', 'texts.ndjson', '--data', 'texts', '--max-text', '6')).code).toBe(0);
});
