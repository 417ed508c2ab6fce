import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { requestTurn } from '../../../src/server/fairscheduling.ts';
import type { Store } from '../../../src/server/store/store.ts';
import { Deliveries } from '../../../src/server/stream/deliveries.ts';
import { addDelivery, countDeliveries } from '../../../src/server/stream/deliverystore.ts';
import { ORGANIZATION, OTHER_ORGANIZATION } from '../../support/ids.ts';
import { line, organizationRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { fakeTime, pass, reached, settled } from './relay/faketime.ts';
import { allMessages } from './told.ts';

const people = (count: number, organization: string) =>
  Array.from({ length: count }, (_, n) =>
    line('PatientV1', { id: n + 1, firstName: 'One', lastName: 'X' }, organization),
  );

let service: TestService;
beforeEach(async () => {
  service = await testService([
    ...organizationRecords(),
    ...people(150, ORGANIZATION),
    ...people(2, OTHER_ORGANIZATION),
  ]);
});
afterEach(() => service.close());

async function orgOf(id: string): Promise<number> {
  const row = await service.service.store.read.get<{ org: number }>(
    sql`SELECT org FROM organizations WHERE id = ${id}`,
  );
  return row?.org ?? 0;
}

async function accept(correlationId: string, organization = ORGANIZATION): Promise<void> {
  const org = await orgOf(organization);
  const asked = {
    org,
    correlationId,
    operation: 'patients.async',
    filter: null,
    responseFields: null,
    locations: null,
  };
  const actor = { who: 'token 1', address: '127.0.0.1', requestId: `of ${correlationId}` };
  await service.service.store.write((tx) => addDelivery(tx, { ...asked, afterId: 0, actor }, service.clock.text()));
}

function started(store: Store, onFault: (fault: unknown, requestId?: string) => void = () => {}): Deliveries {
  const deliveries = new Deliveries(store, service.clock.now);
  deliveries.start(() => undefined, onFault);
  return deliveries;
}

/** The store, with a hand in the looks for the next delivery. */
function looking(after: (look: number) => unknown): Store {
  const { store } = service.service;
  let looks = 0;
  const get: Store['read']['get'] = async (query) => {
    const found = await store.read.get(query);
    await after(++looks);
    return found as never;
  };
  return { ...store, read: Object.create(store.read, { get: { value: get } }) };
}

describe('deliveries', () => {
  it('are found though they are accepted while the last look for others is under way', async () => {
    const store = looking(async (look) => {
      if (look > 1) return;
      await accept('late');
      deliveries.wake();
    });
    const deliveries = started(store);
    await deliveries.idle();
    expect(deliveries.completed).toBe(1);
  });

  it('name no request for a look that fails', async () => {
    await accept('first', OTHER_ORGANIZATION);
    const faults: unknown[] = [];
    const store = looking((look) => {
      if (look > 1) throw new Error('away');
    });
    const deliveries = started(store, (fault, requestId) => {
      faults.push([String(fault), requestId]);
      void deliveries.stop();
    });
    await deliveries.idle();
    expect([faults, deliveries.delivered]).toEqual([[['Error: away', undefined]], 2]);
  });

  it('are in the stream and in the audit log of whose they are, in a write of theirs', async () => {
    const org = await orgOf(OTHER_ORGANIZATION);
    await accept('theirs', OTHER_ORGANIZATION);
    await accept('older', OTHER_ORGANIZATION);
    const { store } = service.service;
    // As an earlier molar accepted it.
    await store.write((tx) =>
      tx.run(sql`UPDATE async_deliveries SET who = NULL, request_id = NULL WHERE correlation_id = 'older'`),
    );
    const owners = new Set<unknown>();
    const deliveries = started({
      ...store,
      write: (work, owner) => {
        owners.add(owner);
        return store.write(work, owner);
      },
    });
    await deliveries.idle();
    expect(owners).toEqual(new Set([org]));
    const messages = (await allMessages(service)).filter(({ correlationId }) => correlationId !== null);
    expect(new Set(messages.map(({ organizationId }) => organizationId))).toEqual(new Set([OTHER_ORGANIZATION]));
    expect(messages).toHaveLength(6);
    await store.sequenceEntries();
    const entries = await store.read.all(
      sql`SELECT org, who, request_id, operation FROM audit_entries WHERE via = 'stream' ORDER BY id`,
    );
    const entry = { org, operation: 'patients.async' };
    expect(entries).toEqual([
      { ...entry, who: 'token 1', request_id: 'of theirs' },
      { ...entry, who: 'delivery', request_id: 'older' },
    ]);
  });

  it('have written the chunk that they were at when they have stopped', async () => {
    await accept('stopped');
    const steps: string[] = [];
    let stopped: Promise<unknown> | undefined;
    const { store } = service.service;
    const deliveries = started({
      ...store,
      write: async (work, owner) => {
        stopped = deliveries.stop().then(() => steps.push('stopped'));
        const written = await store.write(work, owner);
        await settled();
        steps.push('written');
        return written;
      },
    });
    await deliveries.idle();
    await stopped;
    expect([steps, deliveries.delivered]).toEqual([['written', 'stopped'], 100]);
    // One that has begun is waiting, too.
    expect(await countDeliveries(store.read)).toBe(1);
  });

  it('leave most of the time to requests of several organizations, and none to those of one', async () => {
    fakeTime();
    try {
      for (const org of [1, 2]) void requestTurn(org);
      await accept('first');
      const deliveries = started(service.service.store);
      await reached(() => deliveries.delivered === 100);
      await settled();
      await pass(19);
      expect(deliveries.delivered).toBe(100);
      await pass(1);
      await reached(() => deliveries.delivered === 150);
      await settled();
      await pass(20);
      await reached(() => deliveries.completed === 1);
      // They have been served for a while.
      await pass(1000);
      await accept('second');
      deliveries.wake();
      await reached(() => deliveries.completed === 2);
    } finally {
      vi.useRealTimers();
    }
  });
});
