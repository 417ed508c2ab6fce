import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MIGRATIONS } from '../../../src/server/store/migrations/steps.ts';
import { appendMessage } from '../../../src/server/stream/outbox.ts';
import { TestClock } from '../../support/clock.ts';
import { downgradeScript } from '../../support/downgrade.ts';
import { ORGANIZATION, OTHER_ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { line, organizationRecords, tokenRecords } from '../../support/practice.ts';
import { preparedDatabase } from '../../support/preparedschemas.ts';
import { rawRows, tamper } from '../../support/rawsql.ts';
import { type TestService, testService } from '../../support/service.ts';
import { ON_POSTGRES } from '../../support/store.ts';
import { check, linesOf } from '../maintenance/practices.ts';
import { address, type Listener, listen, numberIn } from './listening.ts';
import { messageBy } from './writing.ts';

const DAY = 24 * 60 * 60 * 1000;
const A = ORGANIZATION;
const B = OTHER_ORGANIZATION;
const RECORDS = [...organizationRecords(), ...tokenRecords()];

let folder: string;
let database: TestDatabase | undefined;
let service: TestService;
const listeners: Listener[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-positions-'));
  database = ON_POSTGRES ? await preparedDatabase() : undefined;
  service = await opened(RECORDS);
});
afterEach(async () => {
  for (const listener of listeners.splice(0)) listener.close();
  await service.close();
  await database?.drop();
  await rm(folder, { recursive: true });
});

/** The service on this test's store, whether or not it has been opened before. */
function opened(records: typeof RECORDS, clock = new TestClock()): Promise<TestService> {
  return testService(records, {
    clock,
    ...(database === undefined ? { data: folder } : { database: database.url }),
    streamRetentionDays: 2,
    listeners: { heartbeatMs: 50 },
  });
}

let tags = 0;
/** Writes tags, over HTTP and so with a message each. */
async function post(organization: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const body = { tagText: `tag ${++tags}`, isPredefined: false, tagType: 'PAYMENT_TAG' };
    const { status, text } = await service.call('POST', '/transactiontags', { body, organization, token: TOKENS.both });
    if (status !== 201) throw new Error(text);
  }
}

async function hear(organization: string, lastEventId?: number): Promise<Listener> {
  const url = (await service.app.listeningOrigin) ?? '';
  const query = lastEventId === undefined ? '' : `?lastEventId=${lastEventId}`;
  const listener = await listen(url, { organization, token: TOKENS.both, query });
  listeners.push(listener);
  return listener;
}

/** What a listener has heard first: ids as the envelope has them, and the payload of a resync. */
async function heard(organization: string, lastEventId: number, count: number): Promise<unknown[]> {
  const listener = await hear(organization, lastEventId);
  const events = await listener.heard(count);
  for (const { id, message } of events) expect(numberIn(id)).toBe(message.id);
  return events.slice(0, count).map(({ event, message }) => (event === 'resync' ? message.payload : message.id));
}

/** Numbers that the store has of an organization, in the order of commits. */
async function stored(organization: string): Promise<number[]> {
  const rows = await rawRows<{ seq: number }>(
    service,
    `SELECT seq FROM stream_messages WHERE routing_key LIKE '${organization}.%' ORDER BY seq`,
  );
  return rows.map(({ seq }) => Number(seq));
}

const upTo = (count: number, after = 0) => Array.from({ length: count }, (_, n) => after + n + 1);

describe('positions of the stream', () => {
  it('say nothing of what other organizations write', async () => {
    await address(service);
    await post(B, 7);
    const listener = await hear(A);
    expect(listener.begin).toMatch(/^[0-9a-f]{8}-0$/);
    expect(await heard(A, 7, 1)).toEqual([{ requested: 7, resumedAfter: 0 }]);
    for (let round = 1; round <= 3; round++) {
      await post(B, 11);
      const known = listener.comments.length;
      await expect.poll(() => listener.comments.length).toBeGreaterThan(known + 1);
      expect(new Set(listener.comments.slice(known))).toEqual(
        new Set([`heartbeat ${listener.begin.replace(/\d+$/, String(round - 1))}`]),
      );
      await post(A, 1);
      const events = await listener.heard(round);
      expect(events.map(({ id, message }) => [numberIn(id), message.id])).toEqual(upTo(round).map((n) => [n, n]));
    }
    expect((await hear(A)).position).toBe(3);
    expect((await hear(B)).position).toBe(40);
    expect(await heard(A, 0, 3)).toEqual([1, 2, 3]);
    expect(await heard(B, 38, 2)).toEqual([39, 40]);
  });

  it('count each organization by itself in one write of many, and in an import', async () => {
    const rows = await rawRows<{ org: number; id: string }>(service, 'SELECT org, id FROM organizations');
    await service.service.store.write(async (tx) => {
      for (let n = 0; n < 45; n++) {
        const { org, id } = rows[n % 3 === 0 ? 0 : 1] ?? { org: 0, id: '' };
        await appendMessage(tx, messageBy({ org: Number(org), id }, { sendTime: service.clock.text() }));
      }
    });
    const [first, second] = rows.map(({ id }) => id) as [string, string];
    expect([await stored(first), await stored(second)]).toEqual([upTo(15), upTo(30)]);
    const tag = (n: number, organization: string) =>
      line(
        'TransactionTagV1',
        { id: n, tagText: `imported ${n}`, tagType: 'PAYMENT_TAG', isPredefined: false },
        organization,
      );
    // Runs that the database publishes itself, longer than what is kept in memory, and single ones between them.
    await service.import([
      ...upTo(2100).map((n) => tag(n, first)),
      ...upTo(40, 5000).map((n) => tag(n, n % 2 === 0 ? first : second)),
      ...upTo(130).map((n) => tag(n, second)),
    ]);
    await post(first, 1);
    await post(second, 1);
    const counts = [await stored(first), await stored(second)];
    expect(counts).toEqual([upTo(15 + 2100 + 20 + 1), upTo(30 + 20 + 130 + 1)]);
  });

  it('of an earlier version stay what they were', async () => {
    if (database !== undefined) {
      // A new one: a downgrade numbers messages by their place on the disk, which is their order in a new table alone.
      await service.close();
      await database.drop();
      database = await testDatabase();
      service = await opened(RECORDS);
    }
    await post(A, 2);
    await post(B, 3);
    await post(A, 2);
    await post(B, 1);
    const version = MIGRATIONS.findIndex(({ name }) => name === 'positions');
    await service.service.store.write(async (tx) => {
      for (const text of downgradeScript(version, database && 'postgres').split(';\n'))
        await tx.run({ sql: text, text, values: [] });
    });
    // One broker has had four messages of all, another one lacks some that are gone by now.
    await tamper(
      service,
      `INSERT INTO settings (name, value) VALUES ('relay one x', '4'), ('relay two x', '0'), ('stream_floor', '1')`,
      'DELETE FROM stream_messages WHERE id = 1',
    );
    await service.close();
    service = await opened([], service.clock);
    const relayed = 'SELECT target, position FROM relay_positions ORDER BY target, org';
    expect(await rawRows(service, relayed)).toEqual([
      { target: 'relay one x', position: '2' },
      { target: 'relay one x', position: '4' },
      { target: 'relay two x', position: '0' },
      { target: 'relay two x', position: '0' },
    ]);
    await tamper(service, 'DELETE FROM relay_positions');
    await address(service);
    await post(B, 5);
    await post(A, 1);
    // Numbers were 1 2 6 7 of one and 3 4 5 8 of the other; both go on after 8.
    expect(await heard(A, 0, 4)).toEqual([2, 6, 7, 9]);
    expect(await heard(A, 1, 4)).toEqual([2, 6, 7, 9]);
    expect(await heard(A, 2, 3)).toEqual([6, 7, 9]);
    expect(await heard(A, 4, 3)).toEqual([6, 7, 9]);
    expect(await heard(A, 8, 1)).toEqual([9]);
    expect(await heard(B, 5, 6)).toEqual([8, 9, 10, 11, 12, 13]);
    expect((await hear(A)).position).toBe(9);
    // A check knows that some were left out, and none since.
    const place = { data: service.path, ...(database && { database: database.url }) };
    expect(linesOf(await check(place))).toEqual([]);
    // What goes by age goes by those numbers, too: whoever was behind the last one of all has missed nothing.
    service.clock.advance(3 * DAY);
    await post(A, 1);
    await service.service.stream.tidy();
    expect(await heard(A, 9, 1)).toEqual([10]);
    expect(await heard(A, 7, 2)).toEqual([{ requested: 7, resumedAfter: 9 }, 10]);
  });

  it('below what is gone are told so, in numbers of the own organization', async () => {
    await address(service);
    await post(B, 5);
    await post(A, 4);
    service.clock.advance(3 * DAY);
    await post(B, 2);
    await post(A, 2);
    await service.service.stream.tidy();
    expect(await stored(A)).toEqual([5, 6]);
    expect(await heard(A, 2, 3)).toEqual([{ requested: 2, resumedAfter: 4 }, 5, 6]);
    expect(await heard(A, 4, 2)).toEqual([5, 6]);
    expect(await heard(A, 0, 2)).toEqual([5, 6]);
    expect(await heard(B, 4, 3)).toEqual([{ requested: 4, resumedAfter: 5 }, 6, 7]);
    // All of the one goes, and nothing of the other's that is younger.
    service.clock.advance(3 * DAY);
    await post(B, 1);
    await service.service.stream.tidy();
    expect(await stored(A)).toEqual([]);
    const quiet = await hear(A, 6);
    expect(quiet.position).toBe(6);
    expect(await heard(A, 5, 1)).toEqual([{ requested: 5, resumedAfter: 6 }]);
    await post(A, 1);
    expect((await quiet.heard(1)).map(({ message }) => message.id)).toEqual([7]);
  });
});
