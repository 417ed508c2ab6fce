import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Lease } from '../../../src/server/scheduler.ts';
import { TestClock } from '../../support/clock.ts';
import type { TestDatabase } from '../../support/postgres.ts';
import { bareRecords } from '../../support/practice.ts';
import { preparedSchema } from '../../support/preparedschemas.ts';
import { type TestService, testService } from '../../support/service.ts';
import { testPostgres } from '../../support/services.ts';
import { ownOrg, ownPositions } from '../stream/told.ts';

const RATE = 20;

let database: TestDatabase | undefined;
let servers: TestService[] = [];
let clock: TestClock;

beforeEach(async () => {
  if ((await testPostgres()) === undefined) return;
  database = await preparedSchema();
  clock = new TestClock();
  const options = { database: database.url, clock, rateLimit: RATE };
  servers = [await testService(bareRecords(), options)];
  servers.push(await testService([], options));
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  await database?.drop();
  database = undefined;
});

/** The two servers; the test is skipped, and says so, where there is no PostgreSQL. */
function both(context: { skip(reason: string): never }): [TestService, TestService] {
  const [first, second] = servers;
  if (first === undefined || second === undefined) return context.skip('needs PostgreSQL');
  return [first, second];
}

const tag = (tagText: string) => ({ tagText, isPredefined: false, tagType: 'PAYMENT_TAG' });

describe('two servers on one database', () => {
  it('have one rate limit: what one lets through the other does not', async (context) => {
    const [first, second] = both(context);
    let allowed = 0;
    for (let n = 0; n < 2 * RATE + 20; n++) {
      const { status } = await (n % 2 === 0 ? first : second).call('GET', '/transactiontags', { query: { lastId: 0 } });
      if (status === 200) allowed++;
      else expect(status).toBe(429);
    }
    expect(allowed).toBe(2 * RATE);
    clock.advance(1000);
    const after = await Promise.all(
      Array.from({ length: 2 * RATE }, (_, n) =>
        (n % 2 === 0 ? first : second).call('GET', '/transactiontags', { query: { lastId: 0 } }),
      ),
    );
    expect(after.filter(({ status }) => status === 200)).toHaveLength(RATE);
    expect(after.find(({ status }) => status === 429)?.headers['retry-after']).toBe('1');
  });

  it('answer an Idempotency-Key the same, whichever of them got it first', async (context) => {
    const [first, second] = both(context);
    const headers = { 'idempotency-key': 'k-1' };
    const made = await first.call('POST', '/transactiontags', { body: tag('once'), headers });
    const again = await second.call('POST', '/transactiontags', { body: tag('once'), headers });
    expect([made.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(made.text);
    expect(again.headers['idempotency-replayed']).toBe('true');
  });

  it('make one record of the same key at the same time', async (context) => {
    const [first, second] = both(context);
    const headers = { 'idempotency-key': 'k-2' };
    const answers = await Promise.all(
      [first, second].map((server) => server.call('POST', '/transactiontags', { body: tag('twins'), headers })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toContain(201);
    expect(statuses.every((status) => status === 201 || status === 409)).toBe(true);
    const refused = answers.find(({ status }) => status === 409);
    if (refused !== undefined) expect(refused.headers['retry-after']).toBe('1');
    const list = await first.call('GET', '/transactiontags', { query: { filter: 'tagText==twins' } });
    expect(list.body.data).toHaveLength(1);
  });

  it('give ids and stream numbers in the order of commits, without gaps', async (context) => {
    const [first, second] = both(context);
    clock.advance(10_000);
    const { newest: before } = await ownPositions(first);
    await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        (n % 2 === 0 ? first : second).call('POST', '/transactiontags', { body: tag(`tag ${n}`) }),
      ),
    );
    const { messages: told } = await second.service.stream.readMessages({ org: await ownOrg(second) }, before, 100);
    const numbers = told.map(({ text }) => (JSON.parse(text) as { id: number }).id);
    expect(numbers).toEqual(Array.from({ length: 30 }, (_, n) => before + 1 + n));
    const ids = told.map(({ text }) => (JSON.parse(text) as { payload: { id: number } }).payload.id);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  });

  it('wake each other: a listener of one hears of a write to the other', async (context) => {
    const [first, second] = both(context);
    const org = await ownOrg(second);
    const { stream } = second.service;
    await stream.refresh();
    const heard = stream.beyond(org, stream.newestOf(org), 10_000);
    await first.call('POST', '/transactiontags', { body: tag('heard') });
    expect(await heard).toBe(true);
  });

  it('see what the other has deleted from the stream', async (context) => {
    const [first, second] = both(context);
    await first.call('POST', '/transactiontags', { body: tag('old') });
    const { newest: old } = await ownPositions(second);
    clock.advance(30 * 86_400_000);
    await first.service.stream.tidy();
    const { messages, positions } = await second.service.stream.readMessages({ org: await ownOrg(second) }, 0, 10);
    expect([messages, positions.floor]).toEqual([[], old]);
  });

  it('lose no change of one record that both are given at once', async (context) => {
    const [first, second] = both(context);
    const made = await first.call('POST', '/transactiontags', { body: tag('shared') });
    const { id } = made.body.data as { id: number };
    const answers = await Promise.all([
      first.call('PUT', `/transactiontags/${id}`, { body: { tagText: 'renamed' } }),
      second.call('PUT', `/transactiontags/${id}`, { body: { tagType: 'ADJUSTMENT_TAG' } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const now = await first.call('GET', `/transactiontags/${id}`);
    expect(now.body.data).toMatchObject({ tagText: 'renamed', tagType: 'ADJUSTMENT_TAG' });
  });
});

describe('a lease', () => {
  it('is had by one at a time, until it is given back or its time is over', async (context) => {
    const [first, second] = both(context);
    const one = new Lease(first.service.store, 'work', 400);
    const other = new Lease(second.service.store, 'work', 60_000);
    expect(await one.take()).toBe(true);
    expect(await one.take()).toBe(true);
    expect(await other.take()).toBe(false);
    await one.release();
    expect(await other.take()).toBe(true);
    await other.release();
    expect(await one.take()).toBe(true);
    while (!(await other.take())) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await one.take()).toBe(false);
  });

  it('is always there on a store of one server', async () => {
    const alone = await testService(bareRecords(), { store: 'sqlite' });
    const lease = new Lease(alone.service.store, 'work', 1);
    expect([await lease.take(), await lease.take(), lease.isShared]).toEqual([true, true, false]);
    await alone.close();
  });
});
