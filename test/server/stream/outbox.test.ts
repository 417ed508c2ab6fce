import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Transaction } from '../../../src/server/store/store.ts';
import { appendMessage, readMessages } from '../../../src/server/stream/outbox.ts';
import { ORGANIZATION, OTHER_ORGANIZATION } from '../../support/ids.ts';
import { organizationRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';

let service: TestService;
let orgs: Map<string, number>;
beforeEach(async () => {
  service = await testService(organizationRecords());
  const rows = await service.service.store.read.all<{ id: string; org: number }>(
    sql`SELECT id, org FROM organizations`,
  );
  orgs = new Map(rows.map(({ id, org }) => [id, org]));
});
afterEach(() => service.close());

function append(tx: Transaction, payload: object, organizationId = ORGANIZATION): Promise<void> {
  return appendMessage(tx, {
    org: orgs.get(organizationId) ?? 0,
    key: { organizationId, locationId: '*', domainType: 'PatientV1', operation: 'CREATE' },
    sendTime: service.clock.text(),
    correlationId: null,
    payload: JSON.stringify(payload),
    places: '',
    record: null,
  });
}

const { parse } = JSON;
const payloads = async (org?: number, after = 0, limit = 1000) =>
  (await readMessages(service.service.store.read, after, limit, org === undefined ? undefined : { org })).map(
    ({ text }) => parse(text).payload.n,
  );

describe('the outbox', () => {
  it('numbers messages in the order of commits, and leaves none for a write that failed', async () => {
    const { store } = service.service;
    const writes = Array.from({ length: 40 }, (_, n) =>
      store.write(async (tx) => {
        await append(tx, { n });
        if (n % 4 === 3) throw new Error('refused');
        return n;
      }),
    );
    const settled = await Promise.allSettled(writes);
    const committed = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(committed).toHaveLength(30);
    expect(await payloads()).toEqual(committed);
    const ids = (await readMessages(store.read, 0, 100)).map(({ id }) => id);
    expect(ids).toEqual(ids.map((_, index) => (ids[0] ?? 0) + index));
  });

  it('is read from a number on, of one organization or of all', async () => {
    const { store } = service.service;
    await store.write(async (tx) => {
      for (let n = 0; n < 120; n++) await append(tx, { n }, n % 3 === 0 ? OTHER_ORGANIZATION : ORGANIZATION);
    });
    const all = Array.from({ length: 120 }, (_, n) => n);
    const [first] = await readMessages(store.read, 0, 1);
    expect(await payloads()).toEqual(all);
    expect(await payloads(undefined, (first?.id ?? 0) + 99, 7)).toEqual([100, 101, 102, 103, 104, 105, 106]);
    expect(await payloads(orgs.get(OTHER_ORGANIZATION))).toEqual(all.filter((n) => n % 3 === 0));
    expect(await payloads(orgs.get(ORGANIZATION), 0, 60)).toEqual(all.filter((n) => n % 3 !== 0).slice(0, 60));
    expect(await payloads(undefined, (first?.id ?? 0) + 119)).toEqual([]);
  });

  it('is read in pages that stay small when messages are large, and never empty before the end', async () => {
    const { store } = service.service;
    const long = 'x'.repeat(300_000);
    await store.write(async (tx) => {
      for (let n = 0; n < 120; n++) await append(tx, { n, long });
    });
    const seen: number[] = [];
    for (let after = 0; ; ) {
      const page = await readMessages(store.read, after, 500);
      if (page.length === 0) break;
      // One statement reads 50 rows; none follows when they come to a megabyte.
      expect(page.length).toBeLessThanOrEqual(50);
      seen.push(...page.map(({ text }) => parse(text).payload.n));
      after = page.at(-1)?.id ?? 0;
    }
    expect(seen).toEqual(Array.from({ length: 120 }, (_, n) => n));
  });

  it.each([
    [
      'one organization',
      sql`SELECT id, payload FROM stream_messages WHERE seq > ${5} AND org = ${1} ORDER BY seq LIMIT 50`,
    ],
    ['all', sql`SELECT id, payload FROM stream_messages WHERE id > ${5} ORDER BY id LIMIT 50`],
  ])('is read by index range for %s, without sorting', async (_name, statement) => {
    const files = await testService([], { store: 'sqlite' });
    const plan = await files.service.store.read.all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${statement}`);
    await files.close();
    expect(plan).toHaveLength(1);
    expect(plan[0]?.detail).toMatch(/^SEARCH .*(org=\? AND seq>\?|rowid>\?)\)$/);
  });
});

describe('waiting for more', () => {
  const wait = (seen: number, milliseconds = 60_000, signal?: AbortSignal) =>
    service.service.stream.beyond(seen, milliseconds, signal);
  const write = () => service.service.store.write((tx) => append(tx, {}));

  it('ends when there is more, for all who wait', async () => {
    const seen = await service.service.stream.position();
    const waiting = [wait(seen), wait(seen), wait(seen + 1)];
    await write();
    expect(await Promise.all(waiting.slice(0, 2))).toEqual([true, true]);
    await write();
    expect(await waiting[2]).toBe(true);
    expect(await wait(seen)).toBe(true);
  });

  it('ends by itself, on abort, and when the stream is closed', async () => {
    const { stream } = service.service;
    const seen = await stream.position();
    expect(await wait(seen, 1)).toBe(false);
    const abort = new AbortController();
    const waiting = [wait(seen, 60_000, abort.signal), wait(seen)];
    abort.abort();
    expect(await waiting[0]).toBe(false);
    expect(await wait(seen, 60_000, abort.signal)).toBe(false);
    await stream.close();
    expect(await waiting[1]).toBe(false);
    expect(await wait(seen)).toBe(false);
  });

  it('is not ended by commits that told nothing', async () => {
    const seen = await service.service.stream.position();
    const waiting = wait(seen, 50);
    await service.service.store.write((tx) => tx.run(sql`INSERT INTO settings (name, value) VALUES ('x', 'y')`));
    expect(await waiting).toBe(false);
  });
});
