import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Draining } from '../../../src/server/http/draining.ts';
import { trackExchange } from '../../../src/server/http/refusals.ts';
import { openLog } from '../../../src/server/log.ts';
import { serve } from '../../../src/server/serve.ts';

const closing: (() => unknown)[] = [];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});

afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  closing.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

it('closes connections that never had a request, and others when nobody waits for a response any more', async () => {
  const server = createServer();
  closing.push(() => server.closeAllConnections());
  const draining = new Draining(server);
  const accepted: Socket[] = [];
  server.on('connection', (socket) => accepted.push(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await open(port);
  const asking = await open(port);
  asking.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  const isOpen = () => accepted.map(({ destroyed }) => !destroyed);
  const ended = once(server, 'close');
  draining.closeIdle();
  server.close();
  expect(isOpen()).toEqual([true, true]);
  vi.advanceTimersByTime(50);
  expect(isOpen()).toEqual([false, true]);
  response.end('x');
  await once(asking, 'data');
  vi.advanceTimersByTime(50);
  expect(isOpen()).toEqual([false, false]);
  await ended;
  // Nobody looks any more.
  expect(vi.getTimerCount()).toBe(0);
});

it.each([
  [2, 0, [false, true]],
  [2, 2, [false, false, false, true]],
  [0, 2, [false, true]],
])(
  'ends a connection with the last of its responses: %i asked for before it begins, %i later',
  async (before, later, ends) => {
    const responses: ServerResponse[] = [];
    const server = createServer((request, response) => {
      trackExchange(request, response);
      responses.push(response);
    });
    closing.push(() => server.close());
    const draining = new Draining(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const socket = await open((server.address() as AddressInfo).port);
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes;
    });
    for (let asked = 1; asked <= before + later; asked++) {
      if (asked > before) draining.begin();
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      await expect.poll(() => responses.length).toBe(asked);
    }
    draining.begin();
    for (const response of responses) response.end('x');
    await expect.poll(() => socket.closed).toBe(true);
    const told = text.split('HTTP/1.1 ').slice(1);
    expect(told.map((response) => /^connection: close/im.test(response))).toEqual(ends);
  },
);

it('a server that ends does not wait for who asks for nothing', async () => {
  const server = await serve({
    ...{ host: '127.0.0.1', port: 0, data: ':memory:', imports: [], allowCredentials: false, behindProxy: false },
    ...{ requestTimeoutSeconds: 60, maxDocumentMegabytes: 1, rateLimit: 0 },
    log: openLog('silent', { write: () => {} }),
  });
  const idle = await open(Number(new URL(server.url).port));
  const before = vi.getTimerCount();
  const ended = server.close();
  await expect.poll(() => vi.getTimerCount()).toBeGreaterThan(before);
  // Ten seconds later every connection would be closed, also one on which a request is in progress.
  vi.advanceTimersByTime(100);
  await expect.poll(() => idle.closed).toBe(true);
  await ended;
});
