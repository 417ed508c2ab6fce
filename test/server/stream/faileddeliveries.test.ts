import sql from 'sql-template-tag';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isShared } from '../../../src/server/fairscheduling.ts';
import type { Store, Transaction } from '../../../src/server/store/store.ts';
import type { ChunkReader } from '../../../src/server/stream/chunks.ts';
import { Deliveries } from '../../../src/server/stream/deliveries.ts';
import { addDelivery, countDeliveries } from '../../../src/server/stream/deliverystore.ts';
import { LOCATIONS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { pass, reached } from './relay/faketime.ts';
import { allMessages, ownOrg } from './told.ts';

let service: TestService;
afterEach(() => service.close());

const person = (id: number) =>
  line('PatientV1', { id, firstName: 'One', lastName: 'Many', preferredLocation: { id: LOCATIONS.east } });

describe('a delivery that fails, or is shared', () => {
  const actor = { who: 'token 1', address: '127.0.0.1', requestId: 'r' };
  const asked =
    (filter: string, operation = 'patients.async', locations: number[] | null = null) =>
    (tx: Transaction) =>
      addDelivery(
        tx,
        {
          org: 1,
          correlationId: filter,
          operation,
          filter,
          responseFields: null,
          locations,
          afterId: 0,
          actor,
        },
        service.clock.text(),
      );
  /** What is delivered by `deliveries`, or by new ones: correlation id and operation. */
  async function deliver(
    faults: unknown[],
    deliveries = new Deliveries(service.service.store, service.clock.now),
  ): Promise<string[]> {
    deliveries.start(
      () => undefined,
      (fault, requestId) => faults.push(`${fault} of ${requestId}`),
    );
    await deliveries.idle();
    return (await allMessages(service))
      .filter(({ correlationId }) => correlationId !== null)
      .map(({ correlationId, operation }) => `${correlationId} ${operation}`);
  }

  it('is tried again after longer and longer pauses, and after a short one once something has been delivered', async () => {
    // To one that answers from elsewhere more turns may be needed than can be counted.
    const many = Array.from({ length: 150 }, (_, n) => person(n + 1));
    service = await testService([...bareRecords(), ...many], { store: 'sqlite' });
    const { store } = service.service;
    let [attempts, isFull] = [0, true];
    const write: Store['write'] = (work) => {
      // The second chunk fails again.
      isFull ||= attempts++ === 10;
      return isFull ? Promise.reject(new Error('the disk is full')) : store.write(work);
    };
    await store.write(asked('lastName==Many'));
    const deliveries = new Deliveries({ ...store, write }, service.clock.now);
    let faults = 0;
    const told = new Set<string>();
    // While several organizations are served, it pauses between chunks as well.
    await expect.poll(isShared).toBe(false);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    // Not a spy: whoever restores all of them later would bring this clock back.
    const begun: (number | undefined)[] = [];
    const fake = globalThis.setTimeout;
    globalThis.setTimeout = ((work: () => void, milliseconds?: number) => {
      begun.push(milliseconds);
      return fake(work, milliseconds);
    }) as typeof setTimeout;
    try {
      deliveries.start(
        () => undefined,
        (fault, requestId) => {
          faults++;
          told.add(`${fault} of ${requestId}`);
        },
      );
      await reached(() => faults === 1);
      // How soon it pauses after a fault depends on the machine.
      const pausing = async (pause: number) => {
        await reached(() => begun.includes(pause));
        begun.length = 0;
      };
      const expectPauses = async (...pauses: number[]) => {
        for (const pause of pauses) {
          const before = faults;
          await pausing(pause);
          await pass(pause - 1);
          expect(faults).toBe(before);
          await pass(1);
          await reached(() => faults > before);
        }
      };
      await expectPauses(200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000);
      [attempts, isFull] = [9, false];
      await pausing(30_000);
      await pass(30_000);
      await reached(() => faults === 12);
      expect(deliveries.delivered).toBe(100);
      await expectPauses(200, 400);
      isFull = false;
      attempts = 11;
      await pausing(800);
      await pass(800);
      await reached(() => deliveries.completed === 1);
      await deliveries.stop();
      expect(deliveries.delivered).toBe(150);
      expect([...told]).toEqual(['Error: the disk is full of r']);
    } finally {
      globalThis.setTimeout = fake;
      vi.useRealTimers();
    }
  });

  it('is found after five seconds where another server has accepted it, and no more after a stop', async () => {
    service = await testService(bareRecords());
    const { store } = service.service;
    const shared: Store = Object.create(store, { shared: { value: {} } });
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const deliveries = new Deliveries(shared, service.clock.now);
      deliveries.start(
        () => undefined,
        () => undefined,
      );
      await deliveries.idle();
      await store.write(asked('firstName==bob'));
      await vi.advanceTimersByTimeAsync(4999);
      await deliveries.idle();
      expect(deliveries.completed).toBe(0);
      await vi.advanceTimersByTimeAsync(1);
      await deliveries.idle();
      expect(deliveries.completed).toBe(1);
      await deliveries.stop();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('ends where there is nobody any more to deliver to, and nothing that could be delivered', async () => {
    service = await testService(bareRecords());
    const { store } = service.service;
    await store.write(asked('lastName==nosuch'));
    await store.write(asked('x', 'nosuch.async'));
    await store.write((tx) => asked('firstName==bob')(tx));
    await store.write((tx) => tx.run(sql`UPDATE async_deliveries SET org = 99 WHERE filter = 'firstName==bob'`));
    const faults: unknown[] = [];
    const deliveries = new Deliveries(store, service.clock.now);
    // Before the start there is nothing to read computed records with.
    deliveries.wake();
    await deliveries.idle();
    expect(await countDeliveries(store.read)).toBe(3);
    expect(await deliver(faults, deliveries)).toEqual(['lastName==nosuch READ_COMPLETE']);
    expect([await countDeliveries(store.read), faults]).toEqual([0, []]);
    expect([deliveries.delivered, deliveries.completed]).toEqual([0, 3]);
    // Of nothing there is nothing to be audited.
    expect(await store.read.all(sql`SELECT operation FROM audit_entries WHERE via = 'stream'`)).toEqual([]);
  });

  it('is heard to its end by those who are bound to where it is from, and by nobody who is bound elsewhere', async () => {
    service = await testService([...bareRecords(), person(1)]);
    const { store, stream } = service.service;
    const { east, west } = LOCATIONS;
    await store.write(asked('lastName==Many', 'patients.async', [east]));
    const faults: unknown[] = [];
    await deliver(faults);
    const heardAt = async (...locations: number[]) => {
      const { messages } = await stream.readMessages({ org: await ownOrg(service), locations }, 0, 1000);
      return messages.map(({ operation }) => operation).filter((operation) => operation.startsWith('READ'));
    };
    expect([await heardAt(east), await heardAt(east, west)]).toEqual(Array(2).fill(['READ', 'READ_COMPLETE']));
    expect([await heardAt(west), faults]).toEqual([[], []]);
    // For who is bound to no location at all there is nothing but the end.
    await store.write(asked('lastName==Many', 'patients.async', []));
    await deliver(faults);
    expect([(await heardAt(east)).slice(2), faults]).toEqual([['READ_COMPLETE'], []]);
  });

  it('of a report goes on where the last part of it ended', async () => {
    service = await testService(bareRecords());
    const { store } = service.service;
    await store.write(asked('fromDate==2026-03-10', 'locationproductionnetschedule.async'));
    // As its `lastId` said.
    await store.write((tx) => tx.run(sql`UPDATE async_deliveries SET after_id = 4`));
    const asks: unknown[] = [];
    const deliveries = new Deliveries(store, service.clock.now);
    const read: ChunkReader = async (_read, _organization, _query, after, limit) => {
      asks.push([after, limit]);
      const record = { id: after + 7, patient: null, payload: '{}', locationId: '*', location: null };
      return { records: [record], reachedId: after < 18 ? after + 7 : undefined };
    };
    deliveries.start(
      () => read,
      (fault) => asks.push(fault),
    );
    await deliveries.idle();
    expect(asks).toEqual([
      [4, 500],
      [11, 500],
      [18, 500],
    ]);
    expect([deliveries.delivered, deliveries.completed]).toEqual([3, 1]);
    // The last part has its entry in the audit log as well, though it comes with the end.
    await store.sequenceEntries();
    expect(await store.read.all(sql`SELECT operation FROM audit_entries WHERE via = 'stream'`)).toHaveLength(3);
  });

  it('waits for nothing when the server stops while it fails', async () => {
    service = await testService(bareRecords());
    const { store } = service.service;
    await store.write(asked('firstName==bob'));
    let stopped: Promise<void> | undefined;
    const write: Store['write'] = () => {
      stopped = deliveries.stop();
      return Promise.reject(new Error('the disk is full'));
    };
    const deliveries = new Deliveries({ ...store, write }, service.clock.now);
    // No time passes.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      deliveries.start(
        () => undefined,
        () => {},
      );
      await deliveries.idle();
      await stopped;
    } finally {
      vi.useRealTimers();
    }
    expect(stopped).toBeDefined();
    expect(await countDeliveries(store.read)).toBe(1);
  });

  it('is given up when its question is no longer understood, and holds up no other', async () => {
    service = await testService(bareRecords());
    const { store } = service.service;
    await store.write(asked('nosuch==1'));
    await store.write(asked('firstName==bob'));
    const faults: unknown[] = [];
    const deliveries = new Deliveries(store, service.clock.now);
    expect(await deliver(faults, deliveries)).toEqual(['firstName==bob READ', 'firstName==bob READ_COMPLETE']);
    expect([faults.length, deliveries.delivered, deliveries.completed]).toEqual([1, 1, 2]);
    expect(await countDeliveries(store.read)).toBe(0);
  });

  it('is every record once where two servers deliver it', async () => {
    service = await testService([...bareRecords(), ...Array.from({ length: 350 }, (_, n) => person(n + 1))]);
    const { store } = service.service;
    await store.write(asked('lastName==Many'));
    const servers = [0, 1].map(() => new Deliveries(store, service.clock.now));
    const faults: unknown[] = [];
    for (const server of servers) {
      server.start(
        () => undefined,
        (fault) => faults.push(fault),
      );
    }
    await Promise.all(servers.map((server) => server.idle()));
    const messages = (await allMessages(service)).filter(({ correlationId }) => correlationId !== null);
    expect(messages.slice(0, -1).map(({ payload }) => payload.id)).toEqual(
      Array.from({ length: 350 }, (_, n) => 350 - n),
    );
    expect([messages.at(-1)?.payload, faults]).toEqual([{ total: 350 }, []]);
    const sum = (of: 'completed' | 'delivered') => servers.reduce((all, server) => all + server[of], 0);
    expect([sum('completed'), sum('delivered')]).toEqual([1, 350]);
  });
});
