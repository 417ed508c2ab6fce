import { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AnswerBytes } from '../../../src/server/budgets/answerbytes.ts';
import { Budgets } from '../../../src/server/budgets/budgets.ts';
import { ConnectionBudget, type Decision } from '../../../src/server/budgets/connectionbudget.ts';
import { ImageTurns } from '../../../src/server/budgets/imageturns.ts';
import { DEFAULT_BUDGETS } from '../../../src/server/budgets/limits.ts';
import { OverBudget } from '../../../src/server/budgets/overbudget.ts';
import { Tally } from '../../../src/server/budgets/tally.ts';
import type { Reader } from '../../../src/server/store/store.ts';

describe('a tally', () => {
  it('knows what each has, what the one with the most has, and what all have together', () => {
    const tally = new Tally<string>();
    expect([tally.of('a'), tally.most, tally.total]).toEqual([0, 0, 0]);
    tally.add('a', 3);
    tally.add('b', 5);
    tally.add('a', 1);
    expect([tally.of('a'), tally.of('b'), tally.most, tally.total]).toEqual([4, 5, 5, 9]);
    tally.add('b', -2);
    expect([tally.of('b'), tally.most, tally.total]).toEqual([3, 4, 7]);
    tally.add('a', -4);
    expect([tally.of('a'), tally.most, tally.total]).toEqual([0, 3, 3]);
    // Who has nothing left is forgotten.
    tally.add('b', -3);
    expect(tally).toEqual(new Tally());
  });
});

it('a refusal tells which budget it is of, and to come again in two seconds', () => {
  for (const budget of ['async', 'answer-bytes', 'images'] as const) {
    expect(new OverBudget(budget)).toMatchObject({ status: 429, seconds: 2, budget });
    expect(new OverBudget(budget).problems).toMatchObject([{ code: 'limit.budget', source: budget }]);
  }
});

it('the budgets are those that help tells of where nothing else is said (contract §8)', () => {
  expect(DEFAULT_BUDGETS).toEqual({
    ...{ deliveries: 4, answerBytes: 67_108_864, images: 2, imagePixels: 50_000_000, connections: 1000 },
  });
});

const OVER = 'Too many bytes of answers';

/** An answer that has sent its head or not, and of which so much waits in this process. */
function response(waiting = 0, headersSent = false): ServerResponse {
  const made = new ServerResponse(new IncomingMessage(new Socket()));
  Object.defineProperties(made, { headersSent: { value: headersSent }, writableLength: { value: waiting } });
  return made;
}

describe('bytes of answers', () => {
  it('count from when their size is known until their connection is done with them', () => {
    const bytes = new AnswerBytes(1000);
    const answer = response();
    const held = bytes.begin(1, answer);
    expect([bytes.usedBy(1), bytes.most]).toEqual([0, 0]);
    held.prepare(400);
    expect([bytes.usedBy(1), bytes.usedBy(2), bytes.most]).toEqual([400, 0, 400]);
    held.prepare(300);
    expect(bytes.usedBy(1)).toBe(300);
    const other = response();
    bytes.begin(2, other).prepare(500);
    expect(bytes.most).toBe(500);
    answer.emit('close');
    expect([bytes.usedBy(1), bytes.most]).toEqual([0, 500]);
    // What is prepared behind that is sent to nobody.
    held.prepare(200);
    expect(bytes.usedBy(1)).toBe(0);
    other.emit('close');
    expect(bytes).toEqual(new AnswerBytes(1000));
  });

  it('of what is sent piece by piece are those that wait here, once its head is sent', () => {
    const bytes = new AnswerBytes(1000);
    const [waiting, unsent] = [response(300, true), response(500)];
    bytes.begin(1, waiting);
    const held = bytes.begin(1, unsent);
    bytes.begin(2, response(200, true));
    expect([bytes.usedBy(1), bytes.usedBy(2), bytes.most]).toEqual([300, 200, 300]);
    held.prepare(100);
    expect(bytes.usedBy(1)).toBe(400);
    waiting.emit('close');
    expect(bytes.usedBy(1)).toBe(100);
    unsent.emit('close');
    expect([bytes.usedBy(1), bytes.most]).toEqual([0, 200]);
    bytes.begin(1, response(50, true));
    expect(bytes.usedBy(1)).toBe(50);
  });

  it('of one that waits stay when another one, whose size was known, is taken', () => {
    const bytes = new AnswerBytes(1000);
    const known = response();
    bytes.begin(1, known).prepare(100);
    bytes.begin(1, response(300, true));
    known.emit('close');
    expect(bytes.usedBy(1)).toBe(300);
  });

  it('of an organization alone are all that it may have, to the byte', () => {
    const bytes = new AnswerBytes(1000);
    bytes.begin(1, response()).prepare(400);
    expect(() => bytes.begin(1, response()).prepare(601)).toThrow(OVER);
    bytes.begin(1, response()).prepare(600);
    expect(bytes.usedBy(1)).toBe(1000);
  });

  it('of an organization are no more together with what is sent piece by piece', () => {
    const bytes = new AnswerBytes(1000);
    bytes.begin(1, response(300, true));
    expect(() => bytes.begin(1, response()).prepare(701)).toThrow(OVER);
    bytes.begin(1, response()).prepare(700);
    expect(bytes.usedBy(1)).toBe(1000);
  });

  it.each([
    [999, 1],
    [1000, 0],
  ])('of an organization with %i of 1000 let %i more begin', (used, more) => {
    const bytes = new AnswerBytes(1000);
    bytes.begin(1, response()).prepare(used);
    if (more === 0) expect(() => bytes.begin(1, response())).toThrow(OVER);
    else expect(() => bytes.begin(1, response()).prepare(2)).toThrow(OVER);
    bytes.begin(2, response()).prepare(500);
  });

  it('of all together are half as much again, of which those who have something may have twice what is left', () => {
    const bytes = new AnswerBytes(1000);
    bytes.begin(1, response()).prepare(1000);
    bytes.begin(2, response()).prepare(300);
    // 200 are left: 33 more are at most twice what is left then, and 34 are not.
    expect(() => bytes.begin(2, response()).prepare(34)).toThrow(OVER);
    bytes.begin(2, response()).prepare(33);
    expect(bytes.usedBy(2)).toBe(333);
    // Whoever has nothing may have all that is left.
    expect(() => bytes.begin(3, response()).prepare(168)).toThrow(OVER);
    bytes.begin(3, response()).prepare(167);
    for (const org of [1, 2, 3, 4]) expect(() => bytes.begin(org, response())).toThrow(OVER);
  });
});

/** A connection from an address, of which it is seen whether it is open. */
function connection(remoteAddress: string, remotePort = 1): Socket {
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  return Object.assign(socket, { remoteAddress, remotePort }) as unknown as Socket;
}

describe('connections', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it.each([
    [1, 1],
    [3, 1],
    [4, 1],
    [7, 1],
    [8, 2],
    [100, 25],
  ])('of %i are %i of one address', (limit, most) => {
    const budget = new ConnectionBudget(limit);
    let count = 0;
    while (budget.take('192.0.2.1', false)) count++;
    expect([count, budget.open.total]).toEqual([most, most]);
    expect(budget.take('192.0.2.2', false)).toBe(limit > most);
  });

  it('are all of them where one address may have all, and no more', () => {
    const budget = new ConnectionBudget(3);
    for (let n = 0; n < 3; n++) expect(budget.take('192.0.2.1', true)).toBe(true);
    expect([budget.take('192.0.2.1', true), budget.take('127.0.0.1', false)]).toEqual([false, false]);
    budget.leave('192.0.2.1');
    expect([budget.open.total, budget.take('127.0.0.1', false), budget.take('127.0.0.1', false)]).toEqual([
      2,
      true,
      false,
    ]);
  });

  /** A server that serves and refuses, with a decision of another process. */
  function guarded(limit: number, decide?: (socket: Socket) => Decision, withTls = false) {
    const server = withTls ? createTlsServer() : createServer();
    const seen: string[] = [];
    for (const event of withTls ? ['connection', 'secureConnection'] : ['connection']) {
      server.removeAllListeners(event);
      server.on(event, () => void seen.push(event === 'connection' ? 'served' : 'secured'));
    }
    const budget = new ConnectionBudget(limit, decide);
    const tell = () => void seen.push('told');
    budget.guard(server, { oneAddress: true, tell, refused: () => void seen.push('refused') });
    const arrive = (socket: Socket, event = 'connection') => {
      seen.splice(0);
      server.emit(event, socket);
      return seen.join(' ');
    };
    return { budget, arrive };
  }

  it('are decided upon by another process, which counts them itself', () => {
    let decision: Decision = 'serve';
    const { budget, arrive } = guarded(1, () => decision);
    for (let n = 0; n < 3; n++) expect(arrive(connection('192.0.2.1', n))).toBe('served');
    expect(budget.open.total).toBe(0);
    decision = 'refuse';
    expect(arrive(connection('192.0.2.1'))).toBe('refused told');
    expect(budget.open.total).toBe(0);
    decision = 'count';
    expect(arrive(connection('192.0.2.1'))).toBe('served');
    expect(budget.open.total).toBe(1);
    expect(arrive(connection('192.0.2.1'))).toBe('refused told');
  });

  it('that are refused read for two seconds why, and a fault ends them at once', () => {
    const { arrive } = guarded(0);
    const [slow, broken] = [connection('192.0.2.1', 1), connection('192.0.2.1', 2)];
    for (const socket of [slow, broken]) arrive(socket);
    expect(slow.readableFlowing).toBe(true);
    broken.emit('error', new Error('reset'));
    expect([slow.destroyed, broken.destroyed]).toEqual([false, true]);
    vi.advanceTimersByTime(1999);
    expect(slow.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(slow.destroyed).toBe(true);
  });

  it('that are refused are told so while they are 64 at most, and closed without a word else', async () => {
    const { arrive } = guarded(0);
    const told = Array.from({ length: 64 }, (_, n) => connection('192.0.2.1', n));
    for (const socket of told) expect(arrive(socket)).toBe('refused told');
    const next = connection('192.0.2.1', 64);
    expect([arrive(next), next.destroyed]).toEqual(['refused', true]);
    told[0]?.emit('close');
    expect(arrive(connection('192.0.2.1', 65))).toBe('refused told');
    expect(arrive(connection('192.0.2.1', 66))).toBe('refused');
  });

  it('with TLS are told so after the handshake', () => {
    const { arrive } = guarded(2, undefined, true);
    const [first, second] = [connection('192.0.2.1', 1), connection('192.0.2.1', 2)];
    // Two callers may have the same port.
    const other = connection('192.0.2.9', 2);
    expect([arrive(other), arrive(first), arrive(second)]).toEqual(['served', 'served', 'refused served']);
    // Handshakes end in whichever order.
    expect([other, first, second].map((socket) => arrive(socket, 'secureConnection'))).toEqual([
      'secured',
      'secured',
      'told',
    ]);
    // The port of one that is gone may be another's.
    second.emit('close');
    first.emit('close');
    const later = connection('192.0.2.1', 2);
    expect([arrive(later), arrive(later, 'secureConnection')]).toEqual(['served', 'secured']);
  });
});

describe('the budgets of a process', () => {
  const LIMITS = { deliveries: 3, answerBytes: 1001, images: 2, imagePixels: 500, connections: 9 };
  const read = { get: async () => ({ unfinished: 2 }) } as unknown as Reader;

  async function told(budgets: Budgets) {
    const values = await Promise.all(
      budgets.metrics(read).map(async (metric) => Object.fromEntries((await metric.read()) as Map<string, number>)),
    );
    return Object.fromEntries(['limit', 'used', 'refused'].map((name, at) => [name, values[at]]));
  }

  it('are told with their limits, what whoever has the most has, and what was refused', async () => {
    const budgets = new Budgets(LIMITS);
    expect(budgets.metrics(read).map(({ name, kind, label, across }) => [name, kind, label, across])).toEqual([
      ['molar_budget_limit', 'gauge', 'budget', 'max'],
      ['molar_budget_used', 'gauge', 'budget', undefined],
      ['molar_budget_refused_total', 'counter', 'budget', undefined],
    ]);
    budgets.answers.begin(1, response()).prepare(300);
    for (const address of ['127.0.0.1', '192.0.2.1']) budgets.connections.take(address, false);
    for (const org of [7, 8]) void budgets.images.run(org, () => new Promise(() => {}));
    for (const budget of ['images', 'images', 'connections'] as const) budgets.refused(budget);
    expect(await told(budgets)).toEqual({
      limit: { async: 3, 'answer-bytes': 1001, images: 2, 'image-pixels': 500, connections: 9 },
      used: { async: 2, 'answer-bytes': 300, images: 1, connections: 2 },
      refused: { async: 0, 'answer-bytes': 0, images: 2, 'image-pixels': 0, connections: 1 },
    });
  });

  it('are a part of those of the server, which tells all of them', async () => {
    const images = new ImageTurns(1);
    const budgets = new Budgets(LIMITS, { answers: 0.5, images, decide: () => 'serve', tellsStore: false });
    expect([budgets.answers.limit, budgets.images]).toEqual([500, images]);
    const { limit, used } = await told(budgets);
    expect(limit).toMatchObject({ 'answer-bytes': 1001 });
    expect(used).toMatchObject({ async: 0 });
    const server = createServer(() => {});
    budgets.connections.guard(server, { oneAddress: true, tell: () => {}, refused: () => {} });
    server.emit('connection', connection('192.0.2.1'));
    expect(budgets.connections.open.total).toBe(0);
  });
});
