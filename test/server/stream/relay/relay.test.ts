import fc from 'fast-check';
import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { relayMetrics } from '../../../../src/server/stream/gauges.ts';
import type { StoredMessage } from '../../../../src/server/stream/outbox.ts';
import { type TestService, testService } from '../../../support/service.ts';
import { writeMessages } from '../writing.ts';
import { EVENTS, FakeBroker, startRelay, stopRelays, TARGET, until } from './fakebroker.ts';

let service: TestService;
let org: { org: number; id: string };

beforeEach(async () => {
  service = await testService();
  const { 0: first } = await service.service.store.read.all<{ org: number; id: string }>(
    sql`SELECT org, id FROM organizations ORDER BY id`,
  );
  org = first as { org: number; id: string };
});

afterEach(async () => {
  await stopRelays();
  await service.close();
});

const write = (count: number) => writeMessages(service, org, count);

/** Every message of the organization that is written to; the other one has those that made its records. */
const everything = async () => (await service.service.stream.readMessages(org, 0, 100_000)).messages;
/** What a broker has taken of that organization. */
const own = (broker: FakeBroker) => broker.taken.filter(({ routingKey }) => routingKey.startsWith(`${org.id}.`));
const newest = async () => (await everything()).at(-1)?.number ?? 0;

describe('Relay', () => {
  it('brings everything in order, several hundred in flight', async () => {
    await write(1500);
    const broker = new FakeBroker();
    const relay = await startRelay(service.service, TARGET, EVENTS, broker.open);
    await until(async () => relay.lag === 0 && own(broker).at(-1)?.number === (await newest()));
    await write(3);
    await until(async () => own(broker).at(-1)?.number === (await newest()));
    await relay.stop();
    expect(own(broker)).toEqual(await everything());
    expect(broker.most).toBeGreaterThan(100);
    expect(broker.most).toBeLessThanOrEqual(500);
    expect(relay.relayed).toBe(broker.taken.length);
  });

  it('goes on behind what was confirmed when it is started again', async () => {
    await write(20);
    const first = new FakeBroker();
    const before = await startRelay(service.service, TARGET, EVENTS, first.open);
    await until(() => before.lag === 0);
    await before.stop();
    const seen = await newest();
    await write(5);
    const second = new FakeBroker();
    const after = await startRelay(service.service, TARGET, EVENTS, second.open);
    await until(() => after.lag === 0);
    await after.stop();
    expect(second.taken).toEqual((await everything()).filter(({ number }) => number > seen));
    // Of an organization that is new nothing is known yet.
    await service.service.store.write((tx) => tx.run(sql`DELETE FROM relay_positions WHERE org = ${org.org}`));
    const third = new FakeBroker();
    const again = await startRelay(service.service, TARGET, EVENTS, third.open);
    await until(() => again.lag === 0);
    await again.stop();
    expect(third.taken).toEqual(await everything());
  });

  it('keeps what a broker that is away is to have', async () => {
    const broker = new FakeBroker();
    let down = true;
    broker.isDown = () => down;
    const failures: string[] = [];
    const relay = await startRelay(
      service.service,
      TARGET,
      { connected: () => {}, failed: (target, reason) => failures.push(`${target}: ${reason}`) },
      broker.open,
    );
    await write(10);
    await until(() => failures.length > 0);
    expect(relay.connected).toBe(false);
    down = false;
    await until(async () => own(broker).at(-1)?.number === (await newest()));
    await relay.stop();
    expect(own(broker)).toEqual(await everything());
    expect(failures[0]).toBe('broker:5672 /: ECONNREFUSED');
    expect(relay.failures).toBe(failures.length);
  });

  it('keeps how far it has come while it runs, for each exchange of a broker', async () => {
    // Of whichever organization is saved first.
    const kept = () =>
      service.service.store.read.all<{ target: string }>(
        sql`SELECT DISTINCT target FROM relay_positions WHERE position LIKE '%-%' ORDER BY target`,
      );
    const [one, two] = [new FakeBroker(), new FakeBroker()];
    const other = { ...TARGET, exchange: 'other' };
    await write(3);
    const relays = [
      await startRelay(service.service, TARGET, EVENTS, one.open),
      await startRelay(service.service, other, EVENTS, two.open),
    ];
    await until(async () => (await kept()).length === 2);
    await until(() => relays.every(({ lag }) => lag === 0));
    for (const relay of relays) await relay.stop();
    expect((await kept()).map(({ target }) => target)).toEqual([
      'relay broker:5672 / molar.stream',
      'relay broker:5672 / other',
    ]);
    expect(own(two)).toEqual(own(one));
  });

  it('sends again what a broker refused', async () => {
    await write(10);
    const broker = new FakeBroker();
    let refused = 0;
    broker.refuses = ({ number }) => number === 5 && refused++ === 0;
    const relay = await startRelay(service.service, TARGET, EVENTS, broker.open);
    await until(() => relay.lag === 0);
    await relay.stop();
    expect(broker.connections).toBe(2);
    const metrics = await Promise.all(relayMetrics(relay).map(async ({ name, read }) => [name, await read()]));
    expect(Object.fromEntries(metrics)).toEqual({
      molar_relay_connected: 0,
      molar_relay_lag_messages: 0,
      molar_relay_messages_total: relay.relayed,
      molar_relay_failures_total: 1,
    });
    const numbers = (messages: readonly StoredMessage[]) => new Set(messages.map(({ number }) => number));
    expect(numbers(own(broker))).toEqual(numbers(await everything()));
  });

  it('tells every organization of messages that are gone', async () => {
    await write(4);
    service.clock.advance(30 * 24 * 60 * 60 * 1000);
    await write(2);
    const broker = new FakeBroker();
    broker.isDown = () => true;
    const relay = await startRelay(service.service, TARGET, EVENTS, broker.open);
    await service.service.stream.tidy();
    broker.isDown = () => false;
    await until(() => relay.lag === 0);
    await relay.stop();
    // Which organization is first is not promised.
    const told = broker.taken
      .filter(({ operation }) => operation === 'resync')
      .toSorted((one, other) => (one.routingKey < other.routingKey ? -1 : 1));
    const kept = await everything();
    expect(told.map(({ routingKey }) => routingKey)).toEqual([
      '5f0c1e2d3a4b5c6d7e8f9a0b.*.*.resync',
      'other_practice-2.*.*.resync',
    ]);
    expect(own(broker).slice(1)).toEqual(kept);
    // Each in its own numbers, which say nothing of how many the other has lost.
    const counted = await service.service.store.read.all<{ first: number }>(
      sql`SELECT MIN(seq) AS first FROM stream_messages WHERE org = ${org.org}`,
    );
    const floors = await service.service.store.read.all<{ seq: number }>(
      sql`SELECT seq FROM stream_heads WHERE org <> ${org.org}`,
    );
    expect(told.map(({ text }) => JSON.parse(text).payload)).toEqual([
      { requested: 0, resumedAfter: (counted[0]?.first ?? 0) - 1 },
      { requested: 0, resumedAfter: floors[0]?.seq },
    ]);
  });

  it('loses nothing and keeps the order, wherever the connection breaks', async () => {
    await write(400);
    const all = await everything();
    const breaks = fc.array(
      fc.record({ at: fc.integer({ min: 1, max: 600 }), when: fc.constantFrom('before', 'after') }),
      {
        maxLength: 3,
      },
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(breaks, async (given) => {
        const broker = new FakeBroker();
        broker.breaks = (count) => given.find(({ at }) => at === count)?.when as 'before' | 'after' | undefined;
        const target = { ...TARGET, name: `broker ${run++}` };
        const relay = await startRelay(service.service, target, EVENTS, broker.open);
        await until(() => relay.lag === 0);
        await relay.stop();
        // Each message at least once, and never one before an earlier one has been there.
        let reached = 0;
        for (const { number } of own(broker)) {
          const at = all.findIndex((message) => message.number === number);
          expect(at).toBeLessThanOrEqual(reached);
          reached = Math.max(reached, at + 1);
        }
        expect(reached).toBe(all.length);
      }),
      { numRuns: 8 },
    );
  });
});
