import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { ConnectionBudget } from '../../../src/server/budgets/connectionbudget.ts';
import { bareRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { budgetMetrics } from './metrics.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function listening(connections: number, behindProxy = false, host = '127.0.0.1') {
  const service = await testService(bareRecords(), { budgets: { connections }, behindProxy });
  closing.push(() => service.close());
  const { port } = new URL(await service.app.listen({ port: 0, host }));
  return { service, port: Number(port) };
}

/** A connection, and all that it is sent until it ends. */
async function open(port: number, host = '127.0.0.1') {
  const socket = connect({ port, host });
  closing.push(() => socket.destroy());
  let text = '';
  socket.on('data', (bytes) => {
    text += String(bytes);
  });
  socket.on('error', () => undefined);
  const ended = once(socket, 'close').then(() => text);
  await once(socket, 'connect');
  return { socket, ended, read: () => text };
}

const GET = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';
const used = async (service: TestService) => (await budgetMetrics(service)).of('connections').used;

/** An address of this machine that is not loopback; where it has none, shares are tested below alone. */
const address = Object.values(networkInterfaces())
  .flat()
  .find((found) => found?.family === 'IPv4' && !found.internal)?.address;

describe('connections (contract §8)', () => {
  it('over the budget are answered 503 and closed, and there is room again when others end', async () => {
    const { service, port } = await listening(3);
    const held = await Promise.all([open(port), open(port), open(port)]);
    await expect.poll(() => used(service)).toBe(3);
    // Whether it has asked for something or not.
    for (const asked of ['', GET]) {
      const refused = await open(port);
      refused.socket.write(asked);
      const answer = await refused.ended;
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 503 /);
      expect(head).toMatch(/\r\nconnection: close(\r\n|$)/i);
      expect(head).toMatch(/\r\nretry-after: \d+(\r\n|$)/i);
      expect(JSON.parse(body)).toMatchObject({ statusCode: 503, data: null, errors: [{ code: 'server.unavailable' }] });
      expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    }
    // Those that were there are served, and one that ends makes room.
    held[0].socket.write(GET);
    await expect.poll(() => held[0].read()).toMatch(/^HTTP\/1\.1 200 /);
    held[1].socket.destroy();
    await expect.poll(() => used(service)).toBe(2);
    const next = await open(port);
    next.socket.write(GET);
    await expect.poll(() => next.read()).toMatch(/^HTTP\/1\.1 200 /);
    expect((await budgetMetrics(service)).of('connections')).toEqual({ limit: 3, used: 3, refused: 2 });
  });

  it('that are refused do not pile up: of very many only some are told so, and all are closed', async () => {
    const { service, port } = await listening(1);
    await open(port);
    const refused = await Promise.all(Array.from({ length: 200 }, () => open(port)));
    const answers = await Promise.all(refused.map(({ ended }) => ended));
    const told = answers.filter((answer) => answer.startsWith('HTTP/1.1 503 '));
    expect(told.length).toBeGreaterThan(0);
    expect(answers.filter((answer) => answer !== '' && !told.includes(answer))).toEqual([]);
    expect((await budgetMetrics(service)).of('connections')).toEqual({ limit: 1, used: 1, refused: 200 });
  });

  it.for([
    ['a quarter at most', false, 2],
    ['all of them behind a proxy, which is the only one that connects', true, 8],
  ] as const)('of one address that is not loopback are %s', async ([, behindProxy, most], context) => {
    if (address === undefined) return context.skip('needs a network');
    const { service, port } = await listening(8, behindProxy, '0.0.0.0');
    for (let n = 0; n < most; n++) await open(port, address);
    await expect.poll(() => used(service)).toBe(most);
    const refused = await open(port, address);
    expect(await refused.ended).toMatch(/^HTTP\/1\.1 503 /);
  });
});

/** A connection from an address, for a server that does not listen. */
function arrive(server: Server, remoteAddress: string, remotePort: number) {
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  Object.assign(socket, { remoteAddress, remotePort });
  server.emit('connection', socket as Socket);
  return socket;
}

describe('the share of an address', () => {
  const guarded = (limit: number, oneAddress = false) => {
    let served = 0;
    let refused = 0;
    const server = createServer(() => served++);
    new ConnectionBudget(limit).guard(server, { oneAddress, tell: (to) => to.end(), refused: () => refused++ });
    return { server, counts: () => ({ served, refused }) };
  };

  it.each([
    ['an IPv4 address', () => '192.0.2.7', 2],
    ['an IPv6 network of a subscriber', (n: number) => `2001:db8:1:1::${n}`, 2],
    ['IPv4 written as IPv6', (n: number) => (n % 2 === 0 ? '::ffff:192.0.2.7' : '192.0.2.7'), 2],
    ['this machine', () => '127.0.0.1', 8],
    ['this machine by IPv6', () => '::1', 8],
    ['this machine by IPv4 written as IPv6', () => '::ffff:127.0.0.1', 8],
    ['many addresses', (n: number) => `192.0.2.${n}`, 8],
  ])('%s', (_name, addressOf, served) => {
    const { server, counts } = guarded(8);
    for (let n = 0; n < 10; n++) arrive(server, addressOf(n), 1000 + n);
    expect(counts()).toEqual({ served, refused: 10 - served });
  });

  it.each(['192.0.2.7', '::ffff:192.0.2.7', '2001:db8:1:1::7'])(
    'of %s leaves the rest to others, and is free again when a connection ends',
    async (address) => {
      const { server, counts } = guarded(8);
      const [first] = Array.from({ length: 6 }, (_, n) => arrive(server, address, n));
      arrive(server, '192.0.2.8', 1);
      expect(counts()).toEqual({ served: 3, refused: 4 });
      first?.destroy();
      await once(first as Duplex, 'close');
      arrive(server, address, 7);
      arrive(server, address, 8);
      expect(counts()).toEqual({ served: 4, refused: 5 });
    },
  );
});
