import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createMuteServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Network, openNetwork } from '../../../src/core/transport/network.ts';
import { ConnectionFailure, type OutgoingRequest } from '../../../src/core/transport/send.ts';

let server: Server;
let network: Network;

beforeEach(() => {
  // Not every test has it listen.
  server = createServer();
  network = openNetwork();
});

afterEach(async () => {
  await network.close();
  server.closeAllConnections();
  server.close();
});

/** Listens on a free port of this machine and gives its address. */
async function listen(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function send(request: Partial<OutgoingRequest> & { url: string }) {
  return network.send({ method: 'GET', headers: {}, ...request });
}

async function failureOf(work: Promise<unknown>): Promise<ConnectionFailure> {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (error instanceof ConnectionFailure) return error;
  throw new Error(`No ConnectionFailure but ${String(error)}`);
}

async function* bytes(...parts: string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

describe('the network', () => {
  it('carries method, headers and body, and brings back status, headers and body', async () => {
    const url = await listen(async (request, response) => {
      const body = await textOf(request);
      const { 'content-length': length, 'x-a': a } = request.headers;
      response.writeHead(201, { 'X-B': ['1', '2'] }).end(`${request.method} ${request.url} ${a} ${length} ${body}`);
    });
    const body = { length: 5, open: () => bytes('he', 'llo') };
    const response = await send({ method: 'POST', url: `${url}/x?y=1`, headers: { 'x-a': 'b' }, body });
    expect(response).toMatchObject({ status: 201, headers: { 'x-b': '1, 2' } });
    expect(await textOf(response.body)).toBe('POST /x?y=1 b 5 hello');
  });

  it('keeps as many connections as are asked for, without a word of warning', async () => {
    const warnings: string[] = [];
    const hear = (warning: Error) => warnings.push(warning.message);
    process.on('warning', hear);
    let [waiting, release] = [0, () => {}];
    const all = new Promise<void>((done) => {
      release = done;
    });
    const url = await listen(async (_, response) => {
      if (++waiting === 30) release();
      await all;
      response.end();
    });
    const statuses = await Promise.all(Array.from({ length: 30 }, async () => (await send({ url })).status));
    expect(statuses).toEqual(Array(30).fill(200));
    await new Promise((turn) => setImmediate(turn));
    process.off('warning', hear);
    expect(warnings).toEqual([]);
  });

  it('does not follow redirects', async () => {
    const url = await listen((_, response) => response.writeHead(302, { location: '/elsewhere' }).end());
    expect((await send({ url })).status).toBe(302);
  });

  it('tells that nothing was sent when nobody answers', async () => {
    const url = await listen(() => undefined);
    await new Promise((done) => server.close(done));
    const failure = await failureOf(send({ method: 'POST', url, body: 'x' }));
    expect(failure.sent).toBe(false);
    expect(failure.message).toBe(`Connection refused: ${new URL(url).host}.`);
  });

  it.each([
    ['a host', undefined],
    ['a proxy', (address: string) => ({ url: new URL(address), variable: 'HTTPS_PROXY' })],
  ])('is closed at once while the handshake with %s is waited for', async (_, proxy) => {
    const closed: Promise<unknown>[] = [];
    const mute = createMuteServer((socket) => closed.push(once(socket.resume(), 'close')));
    mute.listen(0, 'localhost');
    await once(mute, 'listening');
    const address = `https://localhost:${(mute.address() as AddressInfo).port}`;
    // The limit is far beyond that of this test.
    const waiting = openNetwork({ connectTimeout: 300_000, ...(proxy && { proxyFor: () => proxy(address) }) });
    const connected = once(mute, 'connection');
    const failed = failureOf(waiting.send({ method: 'GET', url: address, headers: {} }));
    await connected;
    await waiting.close();
    await Promise.all([failed, ...closed]);
    mute.close();
  });

  it('tells that everything may have been sent when the connection is cut after the body', async () => {
    const url = await listen(async (request) => {
      await textOf(request);
      request.socket.destroy();
    });
    expect((await failureOf(send({ method: 'POST', url, body: 'x' }))).sent).toBe(true);
    const body = { length: 2, open: () => bytes('{', '}') };
    expect((await failureOf(send({ method: 'POST', url, body }))).sent).toBe(true);
  });

  it('tells that not everything was sent when the body breaks off', async () => {
    const url = await listen((request) => request.on('data', () => request.socket.destroy()));
    const body = {
      length: 1_000_000,
      open: async function* () {
        yield Buffer.alloc(1000);
        await new Promise(() => undefined);
      },
    };
    expect((await failureOf(send({ method: 'POST', url, body }))).sent).toBe(false);
  });

  it('ends when the signal comes', async () => {
    const stop = new AbortController();
    const url = await listen(() => stop.abort());
    await expect(send({ url, signal: stop.signal })).rejects.toBeInstanceOf(ConnectionFailure);
  });
});
