import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Store, Transaction } from '../../../src/server/store/store.ts';
import { Deliveries } from '../../../src/server/stream/deliveries.ts';
import { addDelivery, countDeliveries } from '../../../src/server/stream/deliverystore.ts';
import { LOCATIONS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { allMessages } from './told.ts';

let service: TestService;
afterEach(() => service.close());

const person = (id: number) =>
  line('PatientV1', { id, firstName: 'One', lastName: 'Many', preferredLocation: { id: LOCATIONS.east } });

describe('a delivery that fails, or is shared', () => {
  const actor = { who: 'token 1', address: '127.0.0.1', requestId: 'r' };
  const asked = (filter: string) => (tx: Transaction) =>
    addDelivery(
      tx,
      {
        org: 1,
        correlationId: filter,
        operation: 'patients.async',
        filter,
        responseFields: null,
        locations: null,
        afterId: 0,
        actor,
      },
      service.clock.text(),
    );
  /** What is delivered by a store of its own making: correlation id and operation. */
  async function deliver(store: Store, faults: unknown[]): Promise<string[]> {
    const deliveries = new Deliveries(store, service.clock.now);
    deliveries.start(
      () => undefined,
      (fault, requestId) => faults.push(`${fault} of ${requestId}`),
    );
    await deliveries.idle();
    return (await allMessages(service))
      .filter(({ correlationId }) => correlationId !== null)
      .map(({ correlationId, operation }) => `${correlationId} ${operation}`);
  }

  it('is tried again', async () => {
    service = await testService(bareRecords());
    const { store } = service.service;
    await store.write(asked('firstName==bob'));
    let failures = 2;
    const write: Store['write'] = (work) => {
      if (failures-- > 0) return Promise.reject(new Error('the disk is full'));
      return store.write(work);
    };
    const faults: unknown[] = [];
    expect(await deliver({ ...store, write }, faults)).toEqual(['firstName==bob READ', 'firstName==bob READ_COMPLETE']);
    expect(faults).toEqual(Array(2).fill('Error: the disk is full of r'));
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
    expect(await deliver(store, faults)).toEqual(['firstName==bob READ', 'firstName==bob READ_COMPLETE']);
    expect(faults).toHaveLength(1);
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
