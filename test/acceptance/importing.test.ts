import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { testDatabase } from '../support/postgres.ts';
import { testPostgres } from '../support/services.ts';
import {
  exit,
  molar,
  ORGANIZATION,
  PATIENT,
  READER,
  type Served,
  serve,
  start,
  TOKEN,
  workplace,
  writeFixture,
} from './molar.ts';

const OTHER = { organization: 'another-practice', token: 'token-of-another-practice' };
const OWN = { organization: ORGANIZATION, token: TOKEN };
const FIXTURE = 50;

let place: Awaited<ReturnType<typeof workplace>>;
let served: Served | undefined;
let drop = async () => {};
beforeEach(async () => {
  place = await workplace();
});
afterEach(async () => {
  await served?.stop('SIGKILL');
  await drop();
  drop = async () => {};
  await place.remove();
});

/** Flags of an empty store. */
async function storeFlags(store: 'SQLite' | 'PostgreSQL'): Promise<string[] | undefined> {
  if (store === 'SQLite') return ['--data', 'd'];
  if ((await testPostgres()) === undefined) return undefined;
  const database = await testDatabase();
  drop = database.drop;
  return ['--database', database.url, '--files', 'files'];
}

/** Writes a file with new patients of the organization, the first with this id. */
async function writePatients(name: string, first: number, count: number): Promise<string> {
  const lines = Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      type: 'PatientV1',
      organizationId: ORGANIZATION,
      id: first + n,
      firstName: 'Imported',
      lastName: `P${n}`,
    }),
  );
  await writeFile(join(place.path, name), `${lines.join('\n')}\n`);
  return name;
}

type Caller = typeof OWN;

async function send({ organization, token }: Caller, path: string, body?: object) {
  const response = await fetch(`${served?.url}/api/v1/${path}`, {
    dispatcher,
    headers: { authorization: `Bearer ${token}`, 'organization-id': organization, 'content-type': 'application/json' },
    ...(body && { method: 'PUT', body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

const dispatcher = new Agent({ connections: 8 });

/** How many patients the organization has. */
async function count(): Promise<number> {
  const { text } = await send(OWN, 'patients/totalcount');
  return (JSON.parse(text) as { data: { total: number } }).data.total;
}

/** Reads and writes until the signal is aborted; answers how often, and what was not answered well. */
async function work(caller: Caller, signal: AbortSignal): Promise<{ answers: number; failures: string[] }> {
  const failures: string[] = [];
  let answers = 0;
  for (let turn = 0; !signal.aborted; turn++) {
    const path = `patients/${PATIENT + (turn % FIXTURE)}`;
    const { status, text } = await send(caller, path, turn % 2 === 0 ? { city: `City ${turn}` } : undefined);
    answers++;
    if (status !== 200) failures.push(`${status} ${text}`);
    await sleep(2);
  }
  return { answers, failures };
}

async function serveTwoPractices(flags: readonly string[]): Promise<void> {
  await writeFixture(place.path, FIXTURE);
  await writeFixture(place.path, FIXTURE, 'other.ndjson');
  const text = await readFile(join(place.path, 'other.ndjson'), 'utf8');
  const other = text
    .replaceAll(ORGANIZATION, OTHER.organization)
    .replaceAll(TOKEN, OTHER.token)
    .replaceAll(READER, 'another-reader-of-practice');
  await writeFile(join(place.path, 'other.ndjson'), other);
  const imports = ['--import', 'fixture.ndjson', '--import', 'other.ndjson', '--allow-credentials'];
  served = await serve(place.path, [...flags, ...imports, '--rate-limit', '0', '--audit', 'strict']);
}

test.for(['SQLite', 'PostgreSQL'] as const)(
  'while imports run, two of them at once, everybody reads and writes (%s, D58)',
  async (store, context) => {
    const flags = await storeFlags(store);
    if (flags === undefined) return context.skip('needs PostgreSQL');
    await serveTwoPractices(flags);
    const files = [await writePatients('a.ndjson', 1_000_001, 450), await writePatients('b.ndjson', 2_000_001, 450)];
    const ending = new AbortController();
    const working = Promise.all([OWN, OTHER, OTHER].map((caller) => work(caller, ending.signal)));
    const imported = await Promise.all(files.map((file) => molar(place.path, ['server', 'import', file, ...flags])));
    ending.abort();
    const worked = await working;
    expect(imported.map(({ code, stderr }) => `${code} ${stderr}`)).toEqual(['0 ', '0 ']);
    expect(worked.flatMap(({ failures }) => failures)).toEqual([]);
    // A request that waited for a whole import would have left no time for so many.
    for (const { answers } of worked) expect(answers).toBeGreaterThan(40);
    expect(await count()).toBe(FIXTURE + 900);
    // The writes of the meantime are there, and the import of new patients has touched no other.
    const { text } = await send(OWN, `patients/${PATIENT}`);
    expect((JSON.parse(text) as { data: { city: string } }).data.city).toMatch(/^City /);
  },
);

test.for(['SQLite', 'PostgreSQL'] as const)(
  'an import that is killed while it is published is completed by the server (%s, D58)',
  async (store, context) => {
    const flags = await storeFlags(store);
    if (flags === undefined) return context.skip('needs PostgreSQL');
    await serveTwoPractices(flags);
    const size = 1200;
    const child = start(place.path, ['server', 'import', await writePatients('c.ndjson', 3_000_001, size), ...flags]);
    const ended = exit(child);
    await expect.poll(count, { interval: 20 }).toBeGreaterThan(FIXTURE);
    child.kill('SIGKILL');
    await ended;
    expect(await count()).toBeLessThan(FIXTURE + size);
    await expect.poll(count, { timeout: 240_000, interval: 2000 }).toBe(FIXTURE + size);
  },
);
