import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { PDF } from '../support/files.ts';
import { canMakeClusters, clusterFolder, PostgresCluster } from '../support/postgrescluster.ts';
import { molarIn } from './inprocess.ts';
import { ORGANIZATION, PATIENT, type Served, serve, TOKEN, workplace, writeFixture } from './molar.ts';

let templates: Awaited<ReturnType<typeof workplace>>;
let template: string;
let place: Awaited<ReturnType<typeof workplace>>;
let top: string;
let archive: string;
let primary: PostgresCluster;
let served: Served;
let clusters: PostgresCluster[] = [];

beforeAll(async () => {
  if (!canMakeClusters()) return;
  templates = await workplace();
  await chmod(templates.path, 0o711);
  template = PostgresCluster.template(join(await clusterFolder(join(templates.path, 'pg')), 'template'));
});

afterAll(() => templates?.remove());

beforeEach(async (context) => {
  if (!canMakeClusters()) context.skip('initdb, pg_basebackup and pg_ctl are not there, or nobody who may run them');
  place = await workplace();
  await chmod(place.path, 0o711);
  await writeFixture(place.path, 5);
  [top, archive] = [await clusterFolder(join(place.path, 'pg')), await clusterFolder(join(place.path, 'archive'))];
  primary = await PostgresCluster.make(top, 'primary', archive, template);
  clusters = [primary];
  await primary.ask('CREATE DATABASE molar');
  served = await serve(place.path, [...at(primary), '--import', 'fixture.ndjson']);
});

afterEach(async () => {
  await served?.stop('SIGKILL');
  for (const cluster of clusters) cluster.stop();
  await place?.remove();
});

const at = (cluster: PostgresCluster) => ['--database', cluster.url('molar'), '--files', 'files'];

async function call(method: string, path: string, body?: object) {
  const response = await fetch(`${served.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'organization-id': ORGANIZATION,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const { data } = (await response.json()) as { data: unknown };
  return { status: response.status, data: data as Record<string, unknown> };
}

async function upload(name: string): Promise<number> {
  const { status, data } = await call('POST', '/documents', { name, mimeType: 'PDF', file: { content: PDF } });
  expect(status).toBe(201);
  return Number(data.id);
}

async function download(id: number): Promise<string> {
  const { data } = await call('GET', `/documents/${id}`);
  const response = await fetch((data.storage as { original: string }).original);
  return Buffer.from(await response.arrayBuffer()).toString('base64');
}

/** The ids and events of the first messages of the stream after a position; `0`: from the oldest. */
async function heard(position: string, count: number): Promise<{ id: string; event: string }[]> {
  const response = await fetch(`${served.url}/api/v1/stream?lastEventId=${encodeURIComponent(position)}`, {
    headers: { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION, accept: 'text/event-stream' },
  });
  let text = '';
  const found = () =>
    text
      .split('\n\n')
      .slice(0, -1)
      .flatMap((message) => {
        const [id, event] = ['id', 'event'].map((name) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(message)?.[1]);
        return event === undefined ? [] : [{ id: id ?? '', event }];
      });
  const decoder = new TextDecoder();
  for await (const bytes of response.body as ReadableStream<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true });
    if (found().length >= count) break;
  }
  return found().slice(0, count);
}

const move = async (city: string) => expect((await call('PUT', `/patients/${PATIENT}`, { city })).status).toBe(200);
const cityNow = async () => (await call('GET', `/patients/${PATIENT}`)).data.city;

async function check(cluster: PostgresCluster, ...more: readonly string[]) {
  const { code, stdout, stderr } = await molarIn(place.path, [
    'server',
    'check',
    '--deep',
    '--json',
    ...more,
    ...at(cluster),
  ]);
  expect(stdout, stderr).not.toBe('');
  const { problems } = JSON.parse(stdout) as { problems: readonly { id: unknown; message: string }[] };
  return { code, messages: problems.map(({ message }) => message) };
}

it('a database recovered to the time before a mistake has its records, and their files are there', async () => {
  const first = await upload('in the base backup');
  const recovered = await primary.copy(top, 'recovered');
  clusters.push(recovered);
  const second = await upload('in the archive alone');
  await move('Before');
  const time = String(await primary.ask('SELECT clock_timestamp()::text'));
  for (const id of [first, second]) expect((await call('DELETE', `/documents/${id}`)).status).toBe(200);
  await move('After');
  const third = await upload('after that time');
  const [position] = (await heard('0', 6)).slice(-1);
  const segment = await primary.ask('SELECT pg_walfile_name(pg_switch_wal())');
  await primary.until(`SELECT COALESCE(last_archived_wal >= '${segment}', false) FROM pg_stat_archiver`);
  await served.stop();
  primary.stop();

  await recovered.recoverTo(time, archive);
  // Of the document that was made later only the file is there, which a repair removes.
  expect(await check(recovered)).toEqual({ code: 9, messages: ['belongs to no document'] });
  await check(recovered, '--repair');
  expect(await check(recovered)).toEqual({ code: 0, messages: [] });
  served = await serve(place.path, at(recovered));
  expect(await cityNow()).toBe('Before');
  expect([await download(first), await download(second)]).toEqual([PDF, PDF]);
  expect((await call('GET', `/documents/${third}`)).status).toBe(404);
  await upload('on what was recovered');
  // Whoever heard of the mistake is told that it did not happen, rather than nothing.
  expect((await heard(String(position?.id), 1)).map(({ event }) => event)).toEqual(['resync']);
  expect(await served.stop()).toBe(0);
  expect(await check(recovered)).toEqual({ code: 0, messages: [] });
  const verified = await molarIn(place.path, ['server', 'audit', 'verify', '--database', recovered.url('molar')]);
  expect(verified.code, verified.stdout + verified.stderr).toBe(0);
});

it('a standby that takes over goes on with all that it had received', async () => {
  const standby = await primary.copy(top, 'standby', ['-R']);
  clusters.push(standby);
  await standby.start();
  const document = await upload('before the failover');
  await move('Before');
  const [position] = (await heard('0', 2)).slice(-1);
  const written = await primary.ask('SELECT pg_current_wal_lsn()::text');
  await standby.until(`SELECT pg_last_wal_replay_lsn() >= '${written}'::pg_lsn`);
  primary.stop();
  await served.stop();
  await standby.promote();
  served = await serve(place.path, at(standby));
  expect([await cityNow(), await download(document)]).toEqual(['Before', PDF]);
  await move('After');
  expect(await cityNow()).toBe('After');
  expect((await heard(String(position?.id), 1)).map(({ event }) => event)).toEqual(['resync']);
  expect(await served.stop()).toBe(0);
  expect(await check(standby)).toEqual({ code: 0, messages: [] });
});
