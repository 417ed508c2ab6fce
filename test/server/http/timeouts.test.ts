import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type OpenFolder, openFolder } from '../../../src/server/datafolder.ts';
import { buildApp } from '../../../src/server/http/app.ts';
import { limitWork, WorkTimeout } from '../../../src/server/http/timeouts.ts';
import { importRecords } from '../../../src/server/import/importer.ts';
import { numberRecords } from '../../../src/server/import/lines.ts';
import type { Service } from '../../../src/server/service.ts';
import { ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { organizationRecords, tokenRecords } from '../../support/practice.ts';

let folder: OpenFolder;
const closing: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  folder = await openFolder(':memory:', { serving: true });
});

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await folder.close();
});

async function appOn(service: Service, requestMs: number) {
  const log = { answered() {}, failed() {} };
  const app = await buildApp(service, { log, timeouts: { requestMs }, behindProxy: false, rateLimit: 0 });
  closing.push(() => app.close());
  return app;
}

/** Everything the server sends until it closes the connection. */
async function answerTo(socket: Socket): Promise<string> {
  let answer = '';
  socket.on('data', (chunk) => {
    answer += String(chunk);
  });
  await once(socket, 'close');
  return answer;
}

const LATE = { code: 'request.timeout', title: 'Request timed out' };

describe('a request that takes too long is answered 408 (D43)', () => {
  test.each([
    [
      'its body never ends',
      'POST /oauth/client_credential/accesstoken HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 100\r\n\r\nclient_id=',
    ],
    ['its headers never end', 'GET /healthz HTTP/1.1\r\nhost: x\r\n'],
  ])('%s', async (_name, text) => {
    const app = await appOn(folder.service, 300);
    const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(text);
    const answer = await answerTo(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toMatch(/\r\nx-request-id: \S+\r\n/);
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
    expect(body).toMatchObject({ statusCode: 408, data: null, warnings: [], errors: [LATE] });
  });

  test('its document never ends, of which nothing stays', async () => {
    await importRecords(folder.service, () => numberRecords([...organizationRecords(), ...tokenRecords()]));
    const stage = vi.spyOn(folder.service.files, 'stage');
    onTestFinished(() => void stage.mockRestore());
    const app = await appOn(folder.service, 2000);
    const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `POST /api/v1/documents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKENS.full}\r\n` +
        `organization-id: ${ORGANIZATION}\r\n` +
        'content-type: application/json\r\ncontent-length: 1000000\r\n\r\n{"file":{"content":"',
    );
    // More than is buffered before a file is begun.
    socket.write('QUJD'.repeat(100_000));
    expect(await answerTo(socket)).toMatch(/^HTTP\/1\.1 408 /);
    expect(stage).toHaveBeenCalledOnce();
    await expect.poll(() => folder.service.files.leftovers()).toEqual([]);
  });

  test('the work on it never ends', async () => {
    const never = new Promise<never>(() => {});
    const read = { all: () => never, get: () => never };
    const store = { ...folder.service.store, read, readFor: () => read, lookupsFor: () => read };
    const app = await appOn({ ...folder.service, store }, 200);
    const answer = await app.inject({ url: '/api/v1/patients', headers: { authorization: 'Bearer x' } });
    expect(answer.statusCode).toBe(408);
    expect(answer.json()).toMatchObject({ statusCode: 408, data: null, errors: [LATE] });
  });
});

test('headers have ten seconds, or a request where that is less, and connections may be idle for 65 (contract §8)', async () => {
  const { server } = await appOn(folder.service, 60_000);
  expect([server.headersTimeout, server.keepAliveTimeout]).toEqual([10_000, 65_000]);
  expect((await appOn(folder.service, 4_000)).server.headersTimeout).toBe(4_000);
});

test('what is no HTTP at all is answered 400 in the envelope', async () => {
  const app = await appOn(folder.service, 5_000);
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  const socket = connect(Number(port), '127.0.0.1');
  socket.write('nonsense\r\n\r\n');
  const answer = await answerTo(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ statusCode: 400, data: null });
});

describe('work that takes too long', () => {
  let app: FastifyInstance;
  let url: string;
  let release: (text: string) => void;

  /** An app whose requests are late soon: `/never` ends never, `/work` when it is released. */
  beforeEach(async () => {
    const work = new Promise<string>((resolve) => {
      release = resolve;
    });
    app = fastify();
    app.setErrorHandler((error, _request, reply) => reply.code(error instanceof WorkTimeout ? 408 : 500).send('late'));
    limitWork(app, 100);
    app.get('/never', () => new Promise(() => {}));
    app.get('/begun', (_request, reply) => {
      reply.raw.writeHead(200).write('a part');
      return work;
    });
    app.get('/own', async (_request, reply) => {
      reply.hijack();
      reply.raw.writeHead(200).write('a part');
      reply.raw.end(await work);
    });
    app.post('/work', () => work);
    url = await app.listen({ host: '127.0.0.1', port: 0 });
  });

  afterEach(() => app.close());

  const post = (path: string) =>
    fetch(url + path, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });

  test('refuses every request that is late, one after another', async () => {
    const first = await fetch(`${url}/never`);
    const together = await Promise.all([1, 2, 3].map(() => fetch(`${url}/never`)));
    expect([first, ...together].map(({ status }) => status)).toEqual([408, 408, 408, 408]);
  });

  test('waits for what a body that has come whole asks for, since it may be done', async () => {
    const working = post('/work');
    // The second of these came later than the work, and is late.
    for (const _ of [1, 2]) expect((await fetch(`${url}/never`)).status).toBe(408);
    release('done');
    const answer = await working;
    expect([answer.status, await answer.text()]).toEqual([200, 'done']);
  });

  test('leaves answers alone that are not those of the framework', async () => {
    const own = await fetch(`${url}/own`);
    expect((await fetch(`${url}/never`)).status).toBe(408);
    release(' and the rest');
    expect(await own.text()).toBe('a part and the rest');
  });

  test('cuts an answer that has begun and does not end', async () => {
    const begun = await fetch(`${url}/begun`);
    await expect(begun.text()).rejects.toThrow('terminated');
  });
});
