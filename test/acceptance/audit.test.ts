import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openConnection } from '../../src/sqlite/open.ts';
import { testDatabase } from '../support/postgres.ts';
import { testPostgres } from '../support/services.ts';
import { molarIn } from './inprocess.ts';
import { ORGANIZATION, PATIENT, type Served, serve, TOKEN, workplace, writeFixture } from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
const running: Served[] = [];

beforeEach(async () => {
  place = await workplace();
  await writeFixture(place.path, 100);
});

afterEach(async () => {
  for (const served of running.splice(0)) await served.stop('SIGKILL');
  await place.remove();
});

interface Entry {
  readonly id: number;
  readonly who: string | null;
  readonly operation: string;
  readonly ids: readonly unknown[];
  readonly patients: readonly unknown[];
  readonly all?: true;
}

const run = (...args: string[]) => molarIn(place.path, ['server', ...args]);

async function started(...args: string[]): Promise<Served> {
  const served = await serve(place.path, args);
  running.push(served);
  return served;
}

async function exported(...where: string[]): Promise<Entry[]> {
  const { code, stdout, stderr } = await run('audit', 'export', ...where);
  expect(code, stderr).toBe(0);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Entry);
}

async function trailOf(patient: number, ...where: string[]): Promise<Entry[]> {
  const { code, stdout, stderr } = await run('audit', 'patient', String(patient), '--json', ...where);
  expect(code, stderr).toBe(0);
  const { patient: asked, entries } = JSON.parse(stdout) as { patient: number; entries: Entry[] };
  expect(asked).toBe(patient);
  return entries;
}

function request(url: string, path: string, id = 'asked-1'): Promise<Response> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION, 'x-request-id': id };
  return fetch(`${url}/api/v1${path}`, { headers });
}

const COMMAND = `command ${userInfo().username}`;

interface Store {
  readonly where: readonly string[];
  drop(): Promise<void>;
}

/** PostgreSQL where it is there: trust/audit.test.ts asks the same of a folder. */
async function newStore(): Promise<Store> {
  if ((await testPostgres()) === undefined) return { where: ['--data', 'data'], drop: async () => {} };
  const { url, drop } = await testDatabase();
  return { where: ['--database', url], drop };
}

it('an investigator learns who has seen a patient, while the server runs', async () => {
  const { where, drop } = await newStore();
  const { url, stop } = await started('--import', 'fixture.ndjson', '--files', 'files', ...where);
  expect((await request(url, `/patients/${PATIENT + 7}`, 'asked-get')).status).toBe(200);
  expect((await request(url, '/patients?pageSize=50', 'asked-list')).status).toBe(200);
  expect((await request(url, '/patients?pageSize=500&lastId=0', 'asked-all')).status).toBe(200);
  const [brought, ...one] = await trailOf(PATIENT + 7, ...where);
  const everybody = [[PATIENT, PATIENT + 99]];
  expect(brought).toMatchObject({ operation: 'server.import', who: COMMAND, ids: [], patients: everybody });
  expect(one.map(({ operation }) => operation)).toEqual(['patients.get', 'patients.list', 'patients.list']);
  expect(one[0]).toMatchObject({ ids: [PATIENT + 7], patients: [PATIENT + 7], requestId: 'asked-get' });
  expect(one[2]).toMatchObject({ ids: everybody, patients: everybody });
  expect(one[0]?.who).toMatch(/^token /);
  const other = (await trailOf(PATIENT + 60, ...where)).map(({ operation }) => operation);
  expect(other).toEqual(['server.import', 'patients.list']);
  expect(await trailOf(PATIENT + 7, ...where, '--to', '2001-01-01')).toEqual([]);
  expect(await trailOf(PATIENT + 7, ...where, '--for', ORGANIZATION)).toHaveLength(4);
  // Asked about twice, nobody is still nobody.
  for (let n = 0; n < 2; n++) expect(await trailOf(PATIENT + 100, ...where)).toEqual([]);
  const shown = await run('audit', 'patient', String(PATIENT + 100), ...where);
  expect([shown.code, shown.stdout]).toEqual([0, `Nobody: the audit log has no entry of patient ${PATIENT + 100}.\n`]);
  expect((await run('audit', 'patient', 'x', ...where)).code).toBe(2);
  expect((await run('audit', 'patient', '1', '--for', 'nobody', ...where)).code).toBe(4);
  const commands = (await exported(...where)).filter(({ who }) => who === COMMAND);
  expect(commands.map(({ operation }) => operation)).toEqual([
    'server.import',
    ...Array(7).fill('audit.patient'),
    'audit.export',
  ]);
  expect(commands.at(-1)?.all).toBe(true);
  await stop();
  await drop();
});

it('copies of everything and an import are entries of whoever ran the command', async () => {
  expect((await run('import', 'fixture.ndjson', '--data', 'data')).code).toBe(0);
  expect((await run('backup', 'copy', '--data', 'data')).code).toBe(0);
  expect((await run('restore', 'copy', '--data', 'again')).code).toBe(0);
  const commands = (entries: Entry[]) =>
    entries.filter(({ who }) => who === COMMAND).map(({ operation, all }) => [operation, all === true]);
  const source = [
    ['server.import', false],
    ['server.backup', true],
  ];
  expect(commands(await exported('--data', 'data'))).toEqual([...source, ['audit.export', true]]);
  const restored = [...source, ['server.restore', true]];
  expect(commands(await exported('--data', 'again', '--from', '2001-01-01'))).toEqual([
    ...restored,
    ['audit.export', false],
  ]);
  // The import brought this patient, and what held everything held it, too.
  expect((await trailOf(PATIENT, '--data', 'again')).map(({ operation }) => operation)).toEqual([
    'server.import',
    'server.backup',
    'server.restore',
  ]);
  expect((await run('audit', 'verify', '--data', 'again')).code).toBe(0);
});

it('the export has its members in order, and lists as words of a cell', async () => {
  const { url, stop, log } = await started('--import', 'fixture.ndjson', '--data', 'data', '--audit', 'buffered');
  await request(url, '/patients?filter=lastName==Smith&pageSize=500&lastId=0');
  await request(url, '/patients?pageSize=3&lastId=0');
  await (await fetch(`${url}/api/v1/patients`)).text();
  await stop();
  expectMode(log(), 'buffered');
  const { stdout } = await run('audit', 'export', '--data', 'data');
  const lines = stdout.trim().split('\n');
  const members = ['id', 'at', 'organization', 'who', 'address', 'requestId', 'operation', 'ids', 'patients', 'count'];
  for (const line of lines) {
    const names = Object.keys(JSON.parse(line));
    expect(names.slice(0, 12)).toEqual([...members, 'filterKeys', 'hash']);
    expect(['via', 'status', 'client', 'all']).toEqual(expect.arrayContaining(names.slice(12)));
  }
  const refused = lines.map((line) => JSON.parse(line)).find(({ operation }) => operation === 'refused');
  expect(refused).toMatchObject({ status: 401, who: null, address: '127.0.0.1' });
  const csv = (await run('audit', 'export', '--data', 'data', '--format', 'csv')).stdout.split(/\r?\n/);
  expect(csv[0]).toBe(
    'id,at,organization,who,address,requestId,operation,ids,patients,count,filterKeys,hash,via,status,client,all',
  );
  expect(csv.find((line) => line.includes(`,${PATIENT}-${PATIENT + 2},`))).toBeDefined();
});

/** The start line of a server's log tells how its audit log is written. */
function expectMode(log: string, mode: string): void {
  const lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(lines).toContainEqual(expect.objectContaining({ msg: 'listening', audit: mode }));
}

it('a backup that cannot be noted is not made', async () => {
  expect((await run('import', 'fixture.ndjson', '--data', 'data')).code).toBe(0);
  const connection = openConnection(join(place.path, 'data', 'molar.sqlite'));
  connection.exec("CREATE TRIGGER full BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'full'); END");
  connection.close();
  expect((await run('backup', 'copy', '--data', 'data')).code).not.toBe(0);
  expect((await run('audit', 'export', '--data', 'data')).stdout).toBe('');
});

it('a log that cannot be written stops reading until it can', async () => {
  const { url, stop, log } = await started('--import', 'fixture.ndjson', '--data', 'data');
  const script = (text: string) => {
    const connection = openConnection(join(place.path, 'data', 'molar.sqlite'));
    connection.exec(text);
    connection.close();
  };
  script("CREATE TRIGGER full BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'full'); END");
  const refused = await request(url, '/patients');
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await refused.json()).toMatchObject({ data: null, errors: [{ code: 'audit.unavailable' }] });
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  script('DROP TRIGGER full');
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
  expect((await request(url, '/patients')).status).toBe(200);
  await stop();
  expectMode(log(), 'strict');
});
