import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect } from 'vitest';
import { onPostgres, postgresTest } from '../support/postgres.ts';
import { freePorts } from '../support/services.ts';
import { exit, hasEnded, molar, ORGANIZATION, type Served, serve, TOKEN, workplace, writeFixture } from './molar.ts';

const PGBOUNCER = '/usr/sbin/pgbouncer';

let place: Awaited<ReturnType<typeof workplace>>;
let pooler: ChildProcess | undefined;
let served: Served | undefined;

beforeEach(async (context) => {
  if (!existsSync(PGBOUNCER) && process.env.CI !== 'true') context.skip('pgbouncer is not installed');
  place = await workplace();
  await writeFixture(place.path, 20);
});

afterEach(async () => {
  await served?.stop('SIGKILL');
  pooler?.kill();
  if (pooler !== undefined) await exit(pooler);
  await place.remove();
});

/** Puts PgBouncer in transaction mode before a database; answers the address there. */
async function pooled(address: string, schema: string): Promise<string> {
  const { hostname, port: behind, username, password, pathname } = new URL(address);
  const [port = 0] = await freePorts(1);
  const to = {
    host: hostname,
    port: behind || '5432',
    dbname: pathname.slice(1),
    user: username,
    ...(password && { password }),
  };
  const words = Object.entries({ ...to, connect_query: `SET search_path TO ${schema}` });
  const lines = [
    '[databases]',
    `molar = ${words.map(([name, value]) => `${name}='${value}'`).join(' ')}`,
    '[pgbouncer]',
    `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =`,
    'auth_type = any\npool_mode = transaction\ndefault_pool_size = 3',
  ];
  const file = join(place.path, 'pgbouncer.ini');
  await writeFile(file, `${lines.join('\n')}\n`);
  // It does not run as root, and reads its settings before it is somebody else.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  pooler = spawn(PGBOUNCER, ['-q', ...user, file], { cwd: '/', stdio: 'ignore' });
  const url = `postgres://molar@127.0.0.1:${port}/molar`;
  while (!hasEnded(pooler) && (await onPostgres(async () => false, url).catch(() => true))) await sleep(50);
  return url;
}

postgresTest('PgBouncer in transaction mode: told at the start, and served with ?prepare=off', async (database) => {
  const url = await pooled(database.url, database.schema);
  const starting = (more: string) => ['--database', url + more, '--files', 'files', '--import', 'fixture.ndjson'];
  for (const command of [
    ['serve', '--port', '0', ...starting('')],
    ['server', 'check', ...starting('').slice(0, 2)],
  ]) {
    const { code, stderr } = await molar(place.path, command);
    expect(code, stderr).toBe(9);
    expect(stderr).toMatch(/behind a pooler that gives each transaction another connection[\s\S]*\?prepare=off/);
  }
  served = await serve(place.path, [...starting('?prepare=off'), '--rate-limit', '0']);
  const { url: api } = served;
  const headers = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION };
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async (_, at) => {
      const body = JSON.stringify({ tagText: `Tag ${at}`, tagType: 'PAYMENT_TAG', isPredefined: false });
      const posted = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
      const path = at % 2 === 0 ? 'transactiontags' : `patients?pageSize=${at}`;
      return (await fetch(`${api}/api/v1/${path}`, at % 2 === 0 ? posted : { headers })).status;
    }),
  );
  expect([...new Set(statuses)].toSorted()).toEqual([200, 201]);
  expect((await fetch(`${api}/readyz`)).status).toBe(200);
  expect(await served.stop()).toBe(0);
});
