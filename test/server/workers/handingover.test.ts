import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { App } from '../../../src/server/http/app.ts';
import type { Service } from '../../../src/server/service.ts';
import { HandOverToWriter } from '../../../src/server/workers/handingover.ts';
import { Readers } from '../../../src/server/workers/readers.ts';

/** Connections end when a test says so. */
const KEEPING = { keepAliveTimeout: 600_000 };

let folder = '';
let path = '';
let reader: Server;
let url = '';
let isDraining = false;
const agents: Agent[] = [];
const opened: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-handover-'));
  path = join(folder, 'writer');
  isDraining = false;
  const handOver = new HandOverToWriter(path, {}, () => isDraining);
  reader = createServer(KEEPING, (asked, response) => handOver.give(asked, response));
  await once(reader.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(reader.address() as AddressInfo).port}`;
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
  for (const agent of agents.splice(0)) agent.destroy();
  reader.closeAllConnections();
  await new Promise((resolve) => reader.close(resolve));
  await rm(folder, { recursive: true });
});

/** A writer that answers as it is told, and the connections that were handed on to it. */
async function writer(answer: (request: IncomingMessage, respond: (headers?: object) => void) => void) {
  const served: Socket[] = [];
  const server = createServer(KEEPING, (asked, response) =>
    answer(asked, (headers = {}) => response.writeHead(201, { ...headers }).end('done')),
  );
  server.on('connection', (socket) => served.push(socket));
  const app = Object.assign(new EventEmitter(), { server });
  const readers = new Readers(app as unknown as App, {} as Service, {});
  await readers.listen(path);
  const close = async () => {
    for (const socket of served) socket.destroy();
    await readers.close();
  };
  opened.push({ close });
  return { served };
}

/** What a caller gets over a connection of its own: status and headers, or the code of the fault. */
async function ask(method: string, headers: Record<string, string> = {}) {
  const agent = new Agent({ keepAlive: true });
  agents.push(agent);
  const asked = request(url, { method, headers, agent }).end();
  try {
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    return { status: response.statusCode, headers: response.headers, agent };
  } catch (error) {
    return { status: (error as NodeJS.ErrnoException).code, headers: {} as IncomingMessage['headers'], agent };
  }
}

it.each([
  ['GET', 503],
  ['HEAD', 503],
  ['POST', 'ECONNRESET'],
  ['PUT', 'ECONNRESET'],
  ['DELETE', 'ECONNRESET'],
])('when the writer dies during a %s, the caller is told nothing that may be wrong: %s', async (method, status) => {
  await writer(({ socket }) => socket.destroy());
  const answer = await ask(method);
  expect(answer.status).toBe(status);
  if (status === 503) expect(answer.headers['retry-after']).toBe('1');
});

it.each(['GET', 'POST'])('a %s is to come again while there is no writer, which has done nothing', async (method) => {
  expect(await ask(method)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
});

it('hands on what concerns the request and nothing of its connection, and so back', async () => {
  let heard: IncomingMessage['headers'] = {};
  await writer(({ headers }, respond) => {
    heard = headers;
    respond({ 'x-answer': 'whole', 'keep-alive': 'timeout=1' });
  });
  const { status, headers } = await ask('POST', { 'x-asked': 'whole', te: 'trailers', 'proxy-connection': 'close' });
  expect([status, headers['x-answer']]).toEqual([201, 'whole']);
  expect(headers['keep-alive']).not.toBe('timeout=1');
  expect(heard['x-asked']).toBe('whole');
  expect(heard).not.toHaveProperty('te');
  expect(heard).not.toHaveProperty('proxy-connection');
});

it('hands on without a body what has none, which Node would send in chunks', async () => {
  const heard: unknown[] = [];
  await writer(({ headers }, respond) => {
    heard.push([headers['content-length'], headers['transfer-encoding']]);
    respond();
  });
  const socket = connect((reader.address() as AddressInfo).port, '127.0.0.1');
  let answer = '';
  socket.on('data', (bytes) => {
    answer += String(bytes);
  });
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  await once(socket, 'close');
  expect(answer).toMatch(/^HTTP\/1\.1 201 /);
  expect(heard).toEqual([['0', undefined]]);
});

it.each([
  [false, 'close'],
  [true, 'keep-alive'],
])(
  'closes the connection of the caller when the writer does, unless the writer drains: %s',
  async (draining, connection) => {
    isDraining = draining;
    await writer((_asked, respond) => respond({ connection: 'close' }));
    expect((await ask('GET')).headers.connection).toBe(connection);
  },
);

it('has a connection to the writer for each caller, for as long as that has its own', async () => {
  const { served } = await writer((_asked, respond) => respond());
  const callers = [await ask('GET'), await ask('GET')];
  expect(served.map(({ closed }) => closed)).toEqual([false, false]);
  const ports = served.map(({ remotePort }) => remotePort);
  expect(new Set(ports).size).toBe(2);
  callers[0]?.agent.destroy();
  await expect.poll(() => served.map(({ closed }) => closed)).toEqual([true, false]);
});
