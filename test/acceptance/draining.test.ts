import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ORGANIZATION, type Served, serve, TOKEN, workplace, writeFixture } from './molar.ts';

const HEADERS = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION };
const TAG = JSON.stringify({ tagText: 'New', tagType: 'PAYMENT_TAG', isPredefined: false });

let place: Awaited<ReturnType<typeof workplace>>;
let served: Served;

beforeEach(async () => {
  place = await workplace();
  await writeFixture(place.path, 3);
});

afterEach(async () => {
  await served.stop('SIGKILL');
  await place.remove();
});

async function started(...args: string[]): Promise<void> {
  served = await serve(place.path, ['--data', ':memory:', '--import', 'fixture.ndjson', ...args]);
}

const get = (path: string) => fetch(served.url + path, { headers: HEADERS });

const isRefused = () =>
  get('/healthz')
    .then(() => false)
    .catch(() => true);

/** A connection, and everything that comes on it until it is closed. */
async function connection(): Promise<{ readonly socket: Socket; readonly closed: Promise<string> }> {
  const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += String(chunk);
  });
  const closed = new Promise<string>((resolve, reject) => {
    socket.once('close', () => resolve(received));
    socket.once('error', reject);
  });
  await once(socket, 'connect');
  return { socket, closed };
}

function head(line: string, more: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ host: '127.0.0.1', ...HEADERS, ...more }).map(([name, value]) => `${name}: ${value}`);
  return `${line} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

test('on SIGTERM the server is not ready, goes on serving for its drain time, and then ends', async () => {
  await started('--drain-time', '4');
  const [silent, idle] = [await connection(), await connection()];
  idle.socket.write(head('GET /api/v1/patients'));
  await once(idle.socket, 'data');
  const stream = await fetch(`${served.url}/api/v1/stream`, { headers: HEADERS });
  const began = performance.now();
  const ended = served.stop('SIGTERM');
  await expect.poll(async () => (await get('/readyz')).status).toBe(503);
  expect(performance.now() - began).toBeLessThan(2000);
  const unready = await get('/readyz');
  expect([unready.headers.get('retry-after'), unready.headers.get('connection')]).toEqual(['1', 'close']);
  expect(await unready.json()).toMatchObject({
    statusCode: 503,
    data: null,
    warnings: [],
    errors: [{ code: 'server.unavailable', description: 'The server is stopping.' }],
  });
  while (performance.now() - began < 3000) {
    const answer = await get('/api/v1/patients');
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    expect((await get('/healthz')).status).toBe(200);
    await sleep(100);
  }
  expect(silent.socket.readyState).toBe('open');
  expect(await ended).toBe(0);
  // Neither a connection without a request nor one that waits for the next keeps the server.
  expect(performance.now() - began).toBeLessThan(9000);
  expect(await silent.closed).toBe('');
  expect(await idle.closed).toMatch(/^HTTP\/1\.1 200 /);
  expect(await stream.text()).not.toContain('error');
});

test('on SIGINT the drain time is left out; what came in is completed, and who goes on with it is told', async () => {
  await started('--drain-time', '60');
  const { socket, closed } = await connection();
  const headers = { 'content-type': 'application/json', 'content-length': String(TAG.length) };
  socket.write(head('POST /api/v1/transactiontags', headers) + TAG.slice(0, 10));
  // The server has read it when a later request of another connection is answered.
  await get('/healthz');
  const began = performance.now();
  const ended = served.stop('SIGINT');
  await expect.poll(isRefused).toBe(true);
  socket.write(TAG.slice(10) + head('GET /api/v1/transactiontags'));
  const [created, listed, ...more] = (await closed).split(/(?=HTTP\/1\.1 )/);
  expect(created).toMatch(/^HTTP\/1\.1 201 /);
  expect(created).not.toMatch(/^connection: close\r$/im);
  expect(listed).toMatch(/^HTTP\/1\.1 200 /);
  expect(listed).toMatch(/^connection: close\r$/im);
  expect(more).toEqual([]);
  expect(await ended).toBe(0);
  expect(performance.now() - began).toBeLessThan(10_000);
});
