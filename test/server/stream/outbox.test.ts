import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Transaction } from '../../../src/server/store/store.ts';
import { streamMetrics } from '../../../src/server/stream/gauges.ts';
import { appendMessage, readMessages } from '../../../src/server/stream/outbox.ts';
import { ORGANIZATION, OTHER_ORGANIZATION } from '../../support/ids.ts';
import { organizationRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { messageBy } from './writing.ts';

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
  const said = { sendTime: service.clock.text(), payload: JSON.stringify(payload) };
  return appendMessage(tx, messageBy({ org: orgs.get(organizationId) ?? 0, id: organizationId }, said));
}

const { parse } = JSON;
const orgOf = (organization = ORGANIZATION) => orgs.get(organization) ?? 0;
const read = (after: number, limit: number, organization?: string) =>
  readMessages(service.service.store.read, { org: orgOf(organization) }, after, limit);
const payloads = async (organization?: string, after = 0, limit = 1000) =>
  (await read(after, limit, organization)).map(({ text }) => parse(text).payload.n);

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
    const numbers = (await read(0, 100)).map(({ number }) => number);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it('is read from a number on, of one organization', async () => {
    const { store } = service.service;
    await store.write(async (tx) => {
      for (let n = 0; n < 120; n++) await append(tx, { n }, n % 3 === 0 ? OTHER_ORGANIZATION : ORGANIZATION);
    });
    const all = Array.from({ length: 120 }, (_, n) => n);
    expect(await payloads(OTHER_ORGANIZATION)).toEqual(all.filter((n) => n % 3 === 0));
    expect(await payloads(ORGANIZATION, 0, 60)).toEqual(all.filter((n) => n % 3 !== 0).slice(0, 60));
    expect(await payloads(ORGANIZATION, 70, 3)).toEqual([106, 107, 109]);
    expect(await payloads(ORGANIZATION, 80)).toEqual([]);
    // Whoever sees none of them reads past each once.
    const unseen = await readMessages(store.read, { org: orgOf(), locations: [7] }, 0, 1000);
    expect(unseen.map(({ number, hidden }) => [number, hidden])).toEqual(all.slice(0, 80).map((n) => [n + 1, true]));
  });

  it('says of what record each message tells and whose it is, to whoever sees one or another location', async () => {
    await service.service.store.write((tx) =>
      appendMessage(tx, {
        org: orgOf(),
        key: { organizationId: ORGANIZATION, locationId: '7', domainType: 'PatientV1', operation: 'UPDATE' },
        ...{ sendTime: service.clock.text(), correlationId: null, payload: '{"id":3,"city":"Provo"}' },
        ...{ places: '5>7', record: '{"id":3,"all":true}', recordId: 3, patientId: 4 },
      }),
    );
    const seenAt = async (...locations: number[]) => {
      const reach = { org: orgOf(), ...(locations.length > 0 && { locations }) };
      const [message] = await readMessages(service.service.store.read, reach, 0, 1);
      const { routingKey, payload, operation } = message?.text ? parse(message.text) : ({} as never);
      expect([routingKey ?? '', operation ?? '']).toEqual([message?.routingKey, message?.operation]);
      return [message?.recordId, message?.patientId, message?.routingKey.replace(/^\w+\./, ''), payload];
    };
    expect(await seenAt()).toEqual([3, 4, '7.PatientV1.UPDATE', { id: 3, city: 'Provo' }]);
    expect(await seenAt(5, 7)).toEqual([3, 4, '7.PatientV1.UPDATE', { id: 3, city: 'Provo' }]);
    expect(await seenAt(5)).toEqual([3, 4, '5.PatientV1.DELETE', { id: 3 }]);
    expect(await seenAt(7)).toEqual([3, 4, '7.PatientV1.CREATE', { id: 3, all: true }]);
    expect(await seenAt(6)).toEqual([null, null, '', undefined]);
  });

  it('is gone on with behind a number without an epoch only where its own organization had that message', async () => {
    const { store, stream } = service.service;
    await store.write(async (tx) => {
      for (let n = 0; n < 5; n++) for (const id of orgs.keys()) await append(tx, { n }, id);
    });
    // As an epoch leaves numbers out.
    await store.write((tx) => tx.run(sql`DELETE FROM stream_messages WHERE org = ${orgOf()} AND seq = 3`));
    const { epoch } = await stream.positionsOf(orgOf());
    const begins = (number: number) => stream.startAt(orgOf(), { epoch: undefined, number });
    for (const number of [0, 2, 5]) expect(await begins(number)).toEqual({ epoch, after: number });
    for (const number of [3, 6]) expect(await begins(number)).toEqual({ epoch, after: 5, requested: number });
  });

  it('is read in pages that stay small when messages are large, and never empty before the end', async () => {
    const { store } = service.service;
    const long = 'x'.repeat(300_000);
    await store.write(async (tx) => {
      for (let n = 0; n < 120; n++) await append(tx, { n, long });
    });
    const seen: number[] = [];
    for (let after = 0; ; ) {
      const page = await read(after, 500);
      if (page.length === 0) break;
      // One statement reads 50 rows; none follows when they come to a megabyte.
      expect(page.length).toBeLessThanOrEqual(50);
      seen.push(...page.map(({ text }) => parse(text).payload.n));
      after = page.at(-1)?.number ?? 0;
    }
    expect(seen).toEqual(Array.from({ length: 120 }, (_, n) => n));
  });

  it('is read by index range, without sorting', async () => {
    const statement = sql`SELECT payload FROM stream_messages WHERE seq > ${5} AND org = ${1} ORDER BY seq LIMIT 50`;
    const files = await testService([], { store: 'sqlite' });
    const plan = await files.service.store.read.all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${statement}`);
    await files.close();
    expect(plan).toHaveLength(1);
    expect(plan[0]?.detail).toMatch(/^SEARCH .*\(org=\? AND seq>\?\)$/);
  });
});

describe('waiting for more', () => {
  const wait = (seen: number, milliseconds = 60_000, signal?: AbortSignal) =>
    service.service.stream.beyond(orgOf(), seen, milliseconds, signal);
  const newest = async () => {
    await service.service.stream.refresh();
    return service.service.stream.newestOf(orgOf());
  };
  const write = () => service.service.store.write((tx) => append(tx, {}));

  it('ends when there is more, for all who wait', async () => {
    const seen = await newest();
    const { stream } = service.service;
    const waiting = [wait(seen), wait(seen), stream.beyond(undefined, stream.moves, 60_000)];
    await write();
    expect(await Promise.all(waiting)).toEqual([true, true, true]);
    const more = [wait(seen + 1), stream.beyond(undefined, stream.moves, 60_000)];
    await write();
    expect(await Promise.all(more)).toEqual([true, true]);
    expect(await wait(seen)).toBe(true);
  });

  it('is also done by counting: each message once, of every organization', async () => {
    const { stream, store } = service.service;
    await stream.refresh();
    const before = stream.written;
    await write();
    await stream.refresh();
    await store.write(async (tx) => {
      for (let n = 0; n < 3; n++) await append(tx, {}, OTHER_ORGANIZATION);
    });
    await write();
    await stream.refresh();
    await stream.refresh();
    expect(stream.written - before).toBe(5);
    // Whoever asks for the figures needs nobody to have looked before.
    await write();
    const told = async (name: string) => {
      const metric = streamMetrics(service.service).find((each) => each.name === `molar_stream_${name}`);
      return metric?.read();
    };
    expect(await told('messages_total')).toBe(before + 6);
    // Those of any organization, whichever has more.
    for (const [organization, count] of [
      [ORGANIZATION, 20],
      [OTHER_ORGANIZATION, 40],
    ] as const) {
      await store.write(async (tx) => {
        for (let n = 0; n < count; n++) await append(tx, {}, organization);
      });
      const stored = await store.read.get<{ newest: number; oldest: number }>(
        sql`SELECT MAX(seq) AS newest, MIN(seq) AS oldest FROM stream_messages`,
      );
      expect([await told('newest_message'), await told('oldest_message')]).toEqual([stored?.newest, stored?.oldest]);
      await store.write((tx) =>
        tx.run(sql`DELETE FROM stream_messages WHERE org = ${orgOf(organization)} AND seq < 5`),
      );
    }
  });

  it('ends by itself, on abort, and when the stream is closed', async () => {
    const { stream } = service.service;
    const seen = await newest();
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

  it('ends at once when there was more before, of which nobody has been told', async () => {
    const seen = await newest();
    // Nobody looks from time to time.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      await write();
      expect(await wait(seen)).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is not ended by what another organization writes', async () => {
    const seen = await newest();
    const waiting = wait(seen, 200);
    await service.service.store.write((tx) => append(tx, {}, OTHER_ORGANIZATION));
    expect(await waiting).toBe(false);
  });

  it('is not ended by commits that told nothing', async () => {
    const seen = await newest();
    const waiting = wait(seen, 50);
    await service.service.store.write((tx) => tx.run(sql`INSERT INTO settings (name, value) VALUES ('x', 'y')`));
    expect(await waiting).toBe(false);
  });
});
