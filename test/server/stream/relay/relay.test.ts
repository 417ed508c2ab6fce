import fc from 'fast-check';
import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendMessage, type SentMessage, type StoredMessage } from '../../../../src/server/stream/outbox.ts';
import type { Broker, RelayTarget } from '../../../../src/server/stream/relay/broker.ts';
import { Relay } from '../../../../src/server/stream/relay/relay.ts';
import { type TestService, testService } from '../../../support/service.ts';

const TARGET: RelayTarget = { url: 'amqp://broker.example.com', exchange: 'molar.stream', name: 'broker:5672 /' };
const events = { connected: () => {}, failed: () => {} };

/** A broker in memory: takes messages, confirms them in an order of its own, and breaks when it is told to. */
class FakeBroker {
  readonly taken: StoredMessage[] = [];
  connections = 0;
  inFlight = 0;
  most = 0;
  /** Asked before each message; true breaks the connection, after the broker has taken it or before. */
  breaks: (count: number) => 'before' | 'after' | undefined = () => undefined;
  refuses: (message: SentMessage) => boolean = () => false;
  isDown = () => false;
  private sent = 0;

  readonly open = async (): Promise<Broker> => {
    this.connections++;
    if (this.isDown()) throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const broken = new AbortController();
    this.inFlight = 0;
    return {
      broken: broken.signal,
      publish: (message, settled) => {
        const end = this.breaks(++this.sent);
        if (broken.signal.aborted || end === 'before') {
          broken.abort(new Error('cut'));
          return true;
        }
        this.taken.push(message as StoredMessage);
        this.most = Math.max(this.most, ++this.inFlight);
        if (end === 'after') broken.abort(new Error('cut'));
        setTimeout(() => {
          this.inFlight--;
          settled(!this.refuses(message));
        }, this.sent % 3);
        return this.sent % 7 !== 0;
      },
      drained: async () => {},
      close: async () => broken.abort(new Error('closed')),
    };
  };
}

let service: TestService;
let org: { org: number; id: string };

beforeEach(async () => {
  service = await testService();
  const { 0: first } = await service.service.store.read.all<{ org: number; id: string }>(
    sql`SELECT org, id FROM organizations ORDER BY id`,
  );
  org = first as { org: number; id: string };
});

afterEach(() => service.close());

async function write(count: number): Promise<void> {
  await service.service.store.write(async (tx) => {
    for (let at = 0; at < count; at++) {
      const key = { organizationId: org.id, locationId: '*', domainType: 'PatientV1', operation: 'CREATE' };
      const sendTime = service.clock.text();
      await appendMessage(tx, {
        org: org.org,
        key,
        sendTime,
        correlationId: null,
        payload: `{"id":${at + 1}}`,
        places: '',
        record: null,
      });
    }
  });
  await service.service.stream.refresh();
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The end of a connection that does nothing but be cut. */
function gone(cut: AbortSignal): Promise<Error> {
  return new Promise((resolve) => cut.addEventListener('abort', () => resolve(new Error('cut'))));
}

/** Every message of the organization that is written to; the other one has those that made its records. */
const everything = async () => (await service.service.stream.readMessages(org, 0, 100_000)).messages;
/** What a broker has taken of that organization. */
const own = (broker: FakeBroker) => broker.taken.filter(({ routingKey }) => routingKey.startsWith(`${org.id}.`));
const newest = async () => (await everything()).at(-1)?.number ?? 0;

describe('Relay', () => {
  it('brings everything in order, several hundred in flight', async () => {
    await write(1500);
    const broker = new FakeBroker();
    const relay = await Relay.start(service.service, TARGET, events, broker.open);
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
    const before = await Relay.start(service.service, TARGET, events, first.open);
    await until(() => before.lag === 0);
    await before.stop();
    const seen = await newest();
    await write(5);
    const second = new FakeBroker();
    const after = await Relay.start(service.service, TARGET, events, second.open);
    await until(() => after.lag === 0);
    await after.stop();
    expect(second.taken).toEqual((await everything()).filter(({ number }) => number > seen));
  });

  it('keeps what a broker that is away is to have', async () => {
    const broker = new FakeBroker();
    let down = true;
    broker.isDown = () => down;
    const failures: string[] = [];
    const relay = await Relay.start(
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

  it.each<[string, (cut: AbortSignal) => Promise<Broker>]>([
    ['never answers when it is connected to', (cut) => gone(cut).then((error) => Promise.reject(error))],
    [
      'confirms nothing, and never lets go',
      async (cut) => {
        const broken = new AbortController();
        const left = gone(cut).then((error) => broken.abort(error));
        return { broken: broken.signal, publish: () => true, drained: () => left, close: () => left };
      },
    ],
    [
      'never has room for anything',
      async (cut) => {
        const broken = new AbortController();
        const left = gone(cut).then((error) => broken.abort(error));
        return { broken: broken.signal, publish: () => false, drained: () => left, close: () => left };
      },
    ],
  ])('stops though its broker %s', async (_name, answer) => {
    await write(3);
    let opened = () => {};
    const opening = new Promise<void>((resolve) => {
      opened = resolve;
    });
    const relay = await Relay.start(service.service, TARGET, events, (_target, cut) => {
      opened();
      return answer(cut);
    });
    await opening;
    await relay.stop();
    expect(relay.relayed).toBe(0);
  });

  it('sends again what a broker refused', async () => {
    await write(10);
    const broker = new FakeBroker();
    let refused = 0;
    broker.refuses = ({ number }) => number === 5 && refused++ === 0;
    const relay = await Relay.start(service.service, TARGET, events, broker.open);
    await until(() => relay.lag === 0);
    await relay.stop();
    expect(broker.connections).toBe(2);
    const numbers = (messages: readonly StoredMessage[]) => new Set(messages.map(({ number }) => number));
    expect(numbers(own(broker))).toEqual(numbers(await everything()));
  });

  it('tells every organization of messages that are gone', async () => {
    await write(4);
    service.clock.advance(30 * 24 * 60 * 60 * 1000);
    await write(2);
    const broker = new FakeBroker();
    broker.isDown = () => true;
    const relay = await Relay.start(service.service, TARGET, events, broker.open);
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
        const relay = await Relay.start(service.service, target, events, broker.open);
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
