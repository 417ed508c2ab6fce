import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openConnection } from '../../src/sqlite/open.ts';
import { onPostgres, testDatabase } from '../support/postgres.ts';
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

/** Reads and writes until the signal is aborted; answers what was not answered well. */
async function work(caller: Caller, signal: AbortSignal): Promise<string[]> {
  const failures: string[] = [];
  for (let turn = 0; !signal.aborted; turn++) {
    const path = `patients/${PATIENT + (turn % FIXTURE)}`;
    const { status, text } = await send(caller, path, turn % 2 === 0 ? { city: `City ${turn}` } : undefined);
    if (status !== 200) failures.push(`${status} ${text}`);
    await sleep(5);
  }
  return failures;
}

/** Counts the patients until the signal is aborted; answers every number that it was told. */
async function watch(signal: AbortSignal): Promise<Set<number>> {
  const told = new Set<number>();
  while (!signal.aborted) {
    told.add(await count());
    await sleep(5);
  }
  return told;
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

/** Waits until no import is left, asking nothing of the server: while it serves nobody, it publishes without pauses. */
async function untilPublished(flags: readonly string[]): Promise<void> {
  const isLeft = async () => {
    const [kind, address = ''] = flags;
    if (kind === '--database') {
      return onPostgres(async (client) => (await client.query('SELECT 1 FROM imports')).rows.length > 0, address);
    }
    const database = openConnection(join(place.path, 'd', 'molar.sqlite'), { readonly: true, timeout: 5000 });
    const left = database.prepare('SELECT 1 FROM imports').all();
    database.close();
    return left.length > 0;
  };
  await expect.poll(isLeft, { timeout: 240_000, interval: 500 }).toBe(false);
}

test.for(['SQLite', 'PostgreSQL'] as const)(
  'everybody reads and writes while imports run, and one that is killed is completed by the server (%s, D58)',
  async (store, context) => {
    const flags = await storeFlags(store);
    if (flags === undefined) return context.skip('needs PostgreSQL');
    await serveTwoPractices(flags);
    const files = [await writePatients('a.ndjson', 1_000_001, 200), await writePatients('b.ndjson', 2_000_001, 200)];
    const ending = new AbortController();
    const working = Promise.all([OWN, OTHER].map((caller) => work(caller, ending.signal)));
    const watching = watch(ending.signal);
    const imported = await Promise.all(files.map((file) => molar(place.path, ['server', 'import', file, ...flags])));
    ending.abort();
    const failures = await working;
    expect(imported.map(({ code, stderr }) => `${code} ${stderr}`)).toEqual(['0 ', '0 ']);
    expect(failures.flat()).toEqual([]);
    // Requests that wait for a whole import see none of its parts.
    const parts = [...(await watching)].filter((told) => ![FIXTURE, FIXTURE + 200, FIXTURE + 400].includes(told));
    expect(parts.length).toBeGreaterThan(1);
    let all = FIXTURE + 400;
    expect(await count()).toBe(all);
    // The writes of the meantime are there, and the import of new patients has touched no other.
    const { text } = await send(OWN, `patients/${PATIENT}`);
    expect((JSON.parse(text) as { data: { city: string } }).data.city).toMatch(/^City /);

    // So many parts that the kill comes before the last; on PostgreSQL each takes longer.
    const size = store === 'SQLite' ? 1200 : 600;
    const child = start(place.path, ['server', 'import', await writePatients('c.ndjson', 3_000_001, size), ...flags]);
    const ended = exit(child);
    await expect.poll(count, { interval: 20 }).toBeGreaterThan(all);
    child.kill('SIGKILL');
    await ended;
    all += size;
    expect(await count()).toBeLessThan(all);
    await untilPublished(flags);
    expect(await count()).toBe(all);
  },
);
