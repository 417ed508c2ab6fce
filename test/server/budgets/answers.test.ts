import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { AnswerBytes } from '../../../src/server/budgets/answerbytes.ts';
import { refusalOf } from '../../support/calls.ts';
import { ORGANIZATION, OTHER_ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { linksOf, posted } from '../resources/documentsof.ts';
import { budgetMetrics } from './metrics.ts';

const MEGABYTE = 1024 * 1024;
const LIMIT = 2 * MEGABYTE;
/** Less than a page: the first one that waits uses it up. */
const SMALL = 100 * 1024;
const OVER = { status: 429, errors: ['limit.budget answer-bytes'] };
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A page of these is about a megabyte. */
const people = Array.from({ length: 500 }, (_, n) =>
  line('PatientV1', { id: 1000 + n, firstName: 'Many', lastName: 'More', preferredName: 'x'.repeat(240) }),
);

/** On one store: what waits for readers is the same whichever it came from. */
async function listening(answerBytes: number) {
  const service = await testService([...bareRecords(), ...people], { budgets: { answerBytes }, store: 'sqlite' });
  closing.push(() => service.close());
  const { port } = new URL(await service.app.listen({ port: 0, host: '127.0.0.1' }));
  return { service, port: Number(port) };
}

const headers = { host: 'x', authorization: `Bearer ${TOKENS.full}`, 'organization-id': ORGANIZATION };
function requestText(path: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
const LIST = requestText('/api/v1/patients?pageSize=500');

/** A connection that asks and takes nothing of its answers until it is told to read. */
async function stalled(port: number, text: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  closing.push(() => socket.destroy());
  await once(socket, 'connect');
  socket.pause().write(text);
  return socket;
}

const list = (service: TestService) => service.call('GET', '/patients', { query: { pageSize: 500 } });
const used = async (service: TestService) => (await budgetMetrics(service)).of('answer-bytes').used ?? 0;

/** Whether the organization is refused, and stays so: the system may be taking what waits at this moment. */
async function isFull(service: TestService): Promise<boolean> {
  for (let n = 0; n < 15; n++) {
    if ((await service.call('GET', '/patients/1000')).status !== 429) return false;
    await sleep(10);
  }
  return true;
}

/** Uses the budget up with lists that nobody reads: the system takes some megabytes of each, the rest waits here. */
async function fill(service: TestService, port: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (!(await isFull(service))) {
    sockets.push(await stalled(port, LIST.repeat(60)));
    await sleep(100);
  }
  return sockets;
}

describe('answers that nobody reads (contract §8)', () => {
  it('fill the budget of their organization and no more; others are answered, and so are all when they are read', async () => {
    const { service, port } = await listening(SMALL);
    const sockets = await fill(service, port);
    const refused = await list(service);
    expect(refusalOf(refused)).toEqual(OVER);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    // Whatever asks for an answer of that organization, whichever its token.
    expect(refusalOf(await service.call('GET', '/patients', { token: TOKENS.read }))).toEqual(OVER);
    const other = { token: TOKENS.other, organization: OTHER_ORGANIZATION };
    expect((await service.call('GET', '/patients', other)).status).toBe(200);
    const { limit, used: waiting, refused: count } = (await budgetMetrics(service)).of('answer-bytes');
    expect([limit, (waiting ?? 0) >= SMALL, (count ?? 0) > 0]).toEqual([SMALL, true, true]);
    for (const socket of sockets) socket.resume();
    // Answers that waited behind those that were read come first.
    await expect.poll(async () => (await list(service)).status).toBe(200);
    await expect.poll(() => used(service)).toBe(0);
  });

  it('are given up when their connections end', async () => {
    const { service, port } = await listening(SMALL);
    for (const socket of await fill(service, port)) socket.destroy();
    await expect.poll(async () => (await list(service)).status).toBe(200);
    // Nor is any of them counted elsewhere: this is the only request.
    expect((await budgetMetrics(service)).text).toMatch(/^molar_http_requests_in_flight 1$/m);
  });

  it('wait one at a time on a connection, however many requests come together', async () => {
    const { service, port } = await listening(LIMIT);
    const page = (await list(service)).bytes.length;
    await stalled(port, LIST.repeat(300));
    await expect.poll(() => used(service)).toBeGreaterThan(0);
    let most = 0;
    for (let n = 0; n < 20; n++) most = Math.max(most, await used(service));
    expect(most).toBeLessThanOrEqual(page);
    expect((await list(service)).status).toBe(200);
  });

  it('may be larger than the budget one at a time, or they could never be read', async () => {
    const { service, port } = await listening(SMALL);
    expect((await list(service)).bytes.length).toBeGreaterThan(200 * 1024);
    await fill(service, port);
    // Writes are not refused for it: their answers are small.
    const write = await service.call('POST', '/patients', { body: {} });
    expect(write.status).toBe(400);
  });

  it('refuse files and the stream of that organization as well', async () => {
    const { service, port } = await listening(SMALL);
    const { original = '' } = linksOf(await posted(service));
    await fill(service, port);
    expect(refusalOf(await service.call('GET', original, { token: null, organization: null }))).toEqual(OVER);
    expect(refusalOf(await service.call('GET', '/stream'))).toEqual(OVER);
  });

  it('may be files: what of them waits in the process counts, not all that is on the disk', async () => {
    const { service, port } = await listening(LIMIT);
    const content = Buffer.alloc(12 * MEGABYTE, '%PDF').toString('base64');
    const link = new URL(linksOf(await posted(service, { file: { content } })).original ?? '');
    await stalled(port, requestText(link.pathname + link.search));
    await expect.poll(() => used(service)).toBeGreaterThan(0);
    expect(await used(service)).toBeLessThan(MEGABYTE);
    expect((await list(service)).status).toBe(200);
  });
});

/** Answers of organizations whose readers take nothing; what each of them was refused or not. */
function answers(limit: number) {
  const budget = new AnswerBytes(limit);
  return {
    budget,
    ask(org: number, bytes: number): ServerResponse | 'refused' {
      const response = new ServerResponse(new IncomingMessage(new Socket()));
      try {
        budget.begin(org, response).prepare(bytes);
        return response;
      } catch {
        response.emit('close');
        return 'refused';
      }
    },
  };
}

describe('answers of many organizations that nobody reads', () => {
  it('have a bound together, and those with the most are refused first', () => {
    const { ask, budget } = answers(1000);
    const held = (org: number) => {
      let count = 0;
      while (ask(org, 10) !== 'refused') count++;
      return count * 10;
    };
    // The first has all that an organization may have, and leaves room for others.
    expect(held(1)).toBe(1000);
    const others = [2, 3, 4].map(held);
    // Each leaves some to the next one.
    for (const [n, bytes] of others.entries()) expect(bytes).toBeGreaterThan(others[n + 1] ?? 0);
    const all = 1000 + others.reduce((sum, bytes) => sum + bytes, 0);
    expect(all).toBeLessThanOrEqual(1500);
    expect(budget.most).toBe(1000);
  });

  it('make room when they are taken', () => {
    const { ask } = answers(1000);
    const held = Array.from({ length: 20 }, (_, org) => ask(org, 100));
    expect(held.filter((response) => response === 'refused').length).toBeGreaterThan(0);
    expect(ask(99, 100)).toBe('refused');
    for (const response of held) if (response !== 'refused') response.emit('close');
    expect(ask(99, 1000)).not.toBe('refused');
  });

  it('take nothing from others by one answer that is larger than the budget', () => {
    const { ask } = answers(1000);
    expect(ask(1, 50_000)).not.toBe('refused');
    expect(ask(1, 1)).toBe('refused');
    expect(ask(2, 400)).not.toBe('refused');
  });
});

describe('the size of an answer', () => {
  it('has its warnings in it', async () => {
    const { service } = await listening(SMALL);
    const sizeOf = (answer: string) => `/patients/1000?${answer}`;
    const unknown = Array.from({ length: 1500 }, (_, n) => `parameter${n}=`).join('&');
    const { bytes } = await service.call('GET', sizeOf(unknown));
    expect(bytes.length).toBeGreaterThan(SMALL);
    const [first, second] = await Promise.all([
      service.call('GET', sizeOf(unknown)),
      service.call('GET', sizeOf(unknown)),
    ]);
    expect([first?.status, second?.status]).toContain(429);
  });
});
