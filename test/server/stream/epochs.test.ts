import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { backUp } from '../../../src/server/maintenance/backup/backup.ts';
import { restore } from '../../../src/server/maintenance/restore.ts';
import type { Broker } from '../../../src/server/stream/relay/broker.ts';
import { Relay } from '../../../src/server/stream/relay/relay.ts';
import { ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { onPostgres, postgresTest } from '../../support/postgres.ts';
import { bareRecords } from '../../support/practice.ts';
import { preparedTest } from '../../support/preparedschemas.ts';
import { type TestService, testService } from '../../support/service.ts';
import { check, linesOf, own, scratch, WORK } from '../maintenance/practices.ts';
import { address, type HeardEvent, type Listener, listen, numberIn } from './listening.ts';
import { ownMessages } from './told.ts';

let place: Awaited<ReturnType<typeof scratch>>;
beforeAll(async () => {
  place = await scratch();
});
afterAll(() => place.remove());

const listeners: Listener[] = [];
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.close();
});

let tags = 0;
async function post(service: TestService, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const body = { tagText: `tag ${++tags}`, isPredefined: false, tagType: 'PAYMENT_TAG' };
    const { status, text } = await service.call('POST', '/transactiontags', { body });
    if (status !== 201) throw new Error(text);
  }
}

async function hear(service: TestService, from?: string): Promise<Listener> {
  const url = (await service.app.listeningOrigin) ?? '';
  const headers = from === undefined ? {} : { 'last-event-id': from };
  const listener = await listen(url, { headers, organization: ORGANIZATION, token: TOKENS.both });
  listeners.push(listener);
  return listener;
}

const tagOf = ({ message }: HeardEvent) => message.payload.tagText;
const lastTags = (count: number) => Array.from({ length: count }, (_, n) => `tag ${tags - count + n + 1}`);

/**
 * What somebody hears who asks for a position, before and after two more writes: `resync`, or nothing; then the tags.
 */
async function heardFrom(service: TestService, position: string, told: number): Promise<unknown[]> {
  const listener = await hear(service, position);
  await post(service, 2);
  return (await listener.heard(told)).map((event) => (event.event === 'resync' ? 'resync' : tagOf(event)));
}

/**
 * Asks for each position that was given out in the history that has ended: `kept` messages of it are there still, and
 * `lost` are not.
 */
async function expectResyncs(service: TestService, events: readonly HeardEvent[], kept: number) {
  const common = events[kept - 1] as HeardEvent;
  const gone = events.at(-1) as HeardEvent;
  expect(await heardFrom(service, common.id ?? '', 3)).toEqual(['resync', ...lastTags(2)]);
  expect(await heardFrom(service, gone.id ?? '', 3)).toEqual(['resync', ...lastTags(2)]);
  // A number alone says no history: all that is certain is that nobody else was given it.
  for (const { message } of events.slice(kept)) {
    expect(await heardFrom(service, String(message.id), 3)).toEqual(['resync', ...lastTags(2)]);
  }
  const before = tags;
  const all = (await ownMessages(service)).filter(({ id }) => id > common.message.id).length;
  const heard = await heardFrom(service, String(common.message.id), all + 2);
  expect(heard.slice(-2)).toEqual(lastTags(2));
  expect(heard).not.toContain('resync');
  expect(heard).toHaveLength(all + tags - before);
}

describe('after a restore', () => {
  const restored = async (to: { data: string; database?: string }, from: string) => {
    const backup = join(place.path, `backup-${randomBytes(4).toString('hex')}`);
    const service = await testService(bareRecords(), { data: from });
    await address(service);
    const listener = await hear(service);
    await post(service, 2);
    await backUp({ data: from }, backup, { ...WORK, version: '1.2.3' });
    await post(service, 3);
    const events = [...(await listener.heard(5))];
    const files = to.database === undefined ? {} : { files: join(to.data, 'files') };
    await restore(backup, { ...to, ...files }, WORK);
    await service.close();
    return { backup, events };
  };

  it('positions of before lead to a resync, and no number is given again', async () => {
    const data = join(place.path, 'again');
    const { backup, events } = await restored({ data }, join(place.path, 'first'));
    const given = new Set(events.map(({ message }) => message.id));
    const once = await testService([], { data });
    await address(once);
    await expectResyncs(once, events, 2);
    const next = (await ownMessages(once)).filter(({ payload }) => !String(payload.tagText).match(/^tag [12]$/));
    const fresh = next.map(({ id }) => id).filter((id) => id > (events.at(-1)?.message.id ?? 0));
    expect(fresh.length).toBeGreaterThanOrEqual(10);
    for (const id of fresh) expect(given.has(id)).toBe(false);
    const listener = await hear(once);
    const { begin } = listener;
    await once.close();
    // The same backup once more: a third history, which is neither of the two.
    await rm(data, { recursive: true });
    await restore(backup, { data }, WORK);
    const twice = await testService([], { data });
    await address(twice);
    expect(await heardFrom(twice, begin, 3)).toEqual(['resync', ...lastTags(2)]);
    await twice.close();
    expect(linesOf(await check({ data }))).toEqual([]);
  });

  preparedTest('in PostgreSQL likewise', async (database) => {
    const data = join(place.path, 'beside');
    const { events } = await restored({ data, database: own(database) }, join(place.path, 'second'));
    const service = await testService([], { database: own(database) });
    await address(service);
    await expectResyncs(service, events, 2);
    await service.close();
  });
});

/** A copy of all tables of a schema, as a standby has them that lags: the database tells it from the first. */
async function standbyOf(schema: string, copy: string): Promise<void> {
  await onPostgres(async (client) => {
    await client.query(`CREATE SCHEMA ${copy}`);
    const { rows } = await client.query<{ name: string }>(
      'SELECT tablename AS name FROM pg_tables WHERE schemaname = $1',
      [schema],
    );
    for (const { name } of rows) {
      await client.query(`CREATE TABLE ${copy}.${name} (LIKE ${schema}.${name} INCLUDING ALL);
        INSERT INTO ${copy}.${name} SELECT * FROM ${schema}.${name}`);
    }
    const functions = await client.query<{ text: string }>(
      `SELECT pg_get_functiondef(p.oid) AS text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1`,
      [schema],
    );
    for (const { text } of functions.rows) await client.query(text.replace(`${schema}.`, `${copy}.`));
  });
}

/** The standby takes the place of the database that was lost. */
async function promote(schema: string, copy: string): Promise<void> {
  await onPostgres((client) =>
    client.query(`ALTER SCHEMA ${schema} RENAME TO ${copy}_lost; ALTER SCHEMA ${copy} RENAME TO ${schema}`),
  );
}

describe('after a failover to a standby that lags', () => {
  postgresTest('listeners and brokers hear a resync, never a gap or a number twice', async (database) => {
    const standby = `${database.schema}_standby`;
    const service = await testService(bareRecords(), { database: database.url });
    await address(service);
    const published: { id: number; operation: string }[] = [];
    const broker: Broker = {
      broken: new AbortController().signal,
      publish: ({ number, operation, routingKey }, settled) => {
        if (routingKey.startsWith(ORGANIZATION)) published.push({ id: number, operation });
        settled(true);
        return true;
      },
      drained: async () => {},
      close: async () => {},
    };
    const target = { url: 'amqp://broker.example.com', exchange: 'molar.stream', name: 'broker:5672 /' };
    const relay = await Relay.start(
      service.service,
      target,
      { connected: () => {}, failed: () => {} },
      async () => broker,
    );
    try {
      const listener = await hear(service);
      await post(service, 3);
      await listener.heard(3);
      await standbyOf(database.schema, standby);
      await post(service, 5);
      const old = [...(await listener.heard(8))];
      await expect.poll(() => published.at(-1)?.id).toBe(old.at(-1)?.message.id);
      await promote(database.schema, standby);
      await post(service, 2);
      // Whoever is connected: first that messages are missing, then what was written since.
      const after = (await listener.heard(9)).slice(8);
      expect(after[0]?.event).toBe('resync');
      await post(service, 1);
      await expect.poll(() => listener.events.some((event) => tagOf(event) === lastTags(1)[0])).toBe(true);
      const numbers = listener.events.filter(({ event }) => event !== 'resync').map(({ message }) => message.id);
      expect(new Set(numbers).size).toBe(numbers.length);
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      expect(numberIn(listener.events.at(-1)?.id)).toBe(numbers.at(-1));
      await expect.poll(() => published.at(-1)?.id).toBe(numbers.at(-1));
      const sent = published.filter(({ operation }) => operation !== 'resync').map(({ id }) => id);
      expect(new Set(sent).size).toBe(sent.length);
      expect(published.filter(({ operation }) => operation === 'resync')).toHaveLength(1);
      await expectResyncs(service, old, 3);
    } finally {
      await relay.stop();
      for (const each of listeners.splice(0)) each.close();
      await service.close();
      await onPostgres((client) =>
        client.query(`SET client_min_messages = warning; DROP SCHEMA IF EXISTS ${standby} CASCADE;
          DROP SCHEMA IF EXISTS ${standby}_lost CASCADE`),
      );
    }
  });
});
