import type { Sql } from 'sql-template-tag';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Store } from '../../../../src/server/store/store.ts';
import type { Broker } from '../../../../src/server/stream/relay/broker.ts';
import { Cursors } from '../../../../src/server/stream/relay/cursors.ts';
import { type TestService, testService } from '../../../support/service.ts';
import { writeOwnMessages } from '../writing.ts';
import { EVENTS, startRelay, stopRelays, TARGET } from './fakebroker.ts';
import { fakeTime, pass, reached, settled, stop } from './faketime.ts';

let service: TestService;
beforeEach(async () => {
  service = await testService();
  fakeTime();
});
afterEach(async () => {
  vi.useRealTimers();
  gate.isShut = false;
  gate.open();
  await stopRelays();
  await service.close();
});

/** A broker that refuses connections, or confirms what it gets, until it goes. */
function broker() {
  const state = { isAway: false, attempts: 0, published: 0, go: () => {} };
  const open = async (): Promise<Broker> => {
    state.attempts++;
    if (state.isAway) throw new Error('away');
    const broken = new AbortController();
    state.go = () => broken.abort(new Error('gone'));
    return {
      broken: broken.signal,
      publish: (_message, settle) => {
        state.published++;
        setImmediate(() => settle(true));
        return true;
      },
      drained: async () => {},
      close: async () => {},
    };
  };
  return Object.assign(state, { open });
}

interface OtherServers {
  held: 'ours' | 'another' | 'unknown';
  /** How often a server was asked for a lease, or to give it up. */
  asked?: number;
  /** What the other server does right before it lets go. */
  atLast?: () => Promise<void>;
}

/** Where writes wait while it is shut, until it is opened for one. */
const gate = {
  ...{ isShut: false, waiting: 0, open: () => {} },
  async pass(): Promise<void> {
    if (!gate.isShut) return;
    gate.waiting++;
    await new Promise<void>((resolve) => {
      gate.open = resolve;
    });
    gate.waiting--;
  },
};

/** The same service on a store that does this before each write. */
function writing(before: () => unknown) {
  const write: Store['write'] = async (work) => {
    await before();
    return service.service.store.write(work);
  };
  return on(Object.create(service.service.store, { write: { value: write } }));
}

const on = (store: Store): typeof service.service => Object.create(service.service, { store: { value: store } });

/** The same service on a store of several servers, whose leases are as the test says: ours, of another server, or unknown. */
function shared(lease: OtherServers, { store } = service.service) {
  const get = async ({ values }: Sql) => {
    lease.asked = (lease.asked ?? 0) + 1;
    // It lasts for three renewals that fail; nobody takes over before.
    if (values.length > 2) expect(values).toContain(10_000);
    if (lease.held === 'unknown') throw new Error('no database');
    if (lease.held === 'another') return undefined;
    await lease.atLast?.();
    return {};
  };
  return on(Object.create(store, { shared: { value: { get } } }));
}

async function writeOne(): Promise<void> {
  await writeOwnMessages(service, 1);
}

/** Saves that the broker has everything. */
async function saveAll(): Promise<void> {
  const { store, stream } = service.service;
  await stream.refresh();
  const cursors = new Cursors(store, `relay ${TARGET.name} ${TARGET.exchange}`);
  for (const { org, seq } of stream.heads.values()) {
    const { epoch } = await stream.positionsOf(org);
    cursors.reach(org, { epoch, number: seq });
  }
  await cursors.save();
}

/** That the next attempts come after these pauses, to the millisecond. */
async function expectAttempts(at: { readonly attempts: number }, pauses: readonly number[]): Promise<void> {
  for (const pause of pauses) {
    const before = at.attempts;
    await pass(pause - 1);
    expect(at.attempts).toBe(before);
    await pass(1);
    await reached(() => at.attempts > before);
    // The pause after it has begun.
    await settled();
    expect(at.attempts).toBe(before + 1);
  }
}

it('a broker that is away is asked after longer and longer pauses, and soon again after it has taken something', async () => {
  const away = broker();
  away.isAway = true;
  const relay = await startRelay(service.service, TARGET, EVENTS, away.open);
  await reached(() => away.attempts === 1);
  await settled();
  await expectAttempts(away, [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
  away.isAway = false;
  await pass(15_000);
  await reached(() => relay.lag === 0);
  away.isAway = true;
  away.go();
  await reached(() => !relay.connected);
  await settled();
  await expectAttempts(away, [250, 500, 1000]);
  await stop(relay);
});

it('a server that takes over begins with the shortest pause, and behind the last message of the other one', async () => {
  const lease: OtherServers = { held: 'another' };
  const away = broker();
  away.isAway = true;
  const relay = await startRelay(shared(lease), TARGET, EVENTS, away.open);
  await settled();
  for (let second = 0; second < 10; second++) await pass(1000);
  expect([away.attempts, relay.connected]).toEqual([0, false]);
  lease.held = 'ours';
  await pass(1000);
  await reached(() => away.attempts === 1);
  await settled();
  await expectAttempts(away, [250, 500]);
  lease.atLast = saveAll;
  away.isAway = false;
  await pass(1000);
  await reached(() => relay.connected && relay.lag === 0);
  await settled();
  await stop(relay);
  expect(away.published).toBe(0);
});

it('a server that cannot renew its lease lets go before another one may take it', async () => {
  const lease: OtherServers = { held: 'ours' };
  const there = broker();
  const relay = await startRelay(shared(lease), TARGET, EVENTS, there.open);
  await reached(() => relay.connected && relay.lag === 0);
  await settled();
  // Twice it cannot, then it can: that counts from the beginning again.
  lease.held = 'unknown';
  await pass(3000);
  await pass(3000);
  lease.held = 'ours';
  await pass(3000);
  lease.held = 'unknown';
  await pass(3000);
  await pass(3000);
  await pass(2999);
  expect(relay.connected).toBe(true);
  await pass(1);
  await reached(() => !relay.connected);
  await pass(10_000);
  expect(there.attempts).toBe(1);
  lease.held = 'ours';
  await pass(1000);
  await reached(() => there.attempts === 2);
  const { asked = 0 } = lease;
  await stop(relay);
  // It is given back, and not taken again.
  await pass(10_000);
  expect(lease.asked).toBe(asked + 1);
});

it('a server whose lease another one has stops at once', async () => {
  const lease: OtherServers = { held: 'ours' };
  const there = broker();
  const relay = await startRelay(shared(lease), TARGET, EVENTS, there.open);
  await reached(() => relay.connected);
  await settled();
  lease.held = 'another';
  await pass(3000);
  await reached(() => !relay.connected);
  await pass(10_000);
  expect(there.attempts).toBe(1);
  // It cannot give back what it may have, and stops nonetheless.
  lease.held = 'unknown';
  await stop(relay);
});

it('how far the broker has come is saved at once, and then four times a second at most', async () => {
  let saves = 0;
  const there = broker();
  const counted = writing(() => saves++);
  const relay = await startRelay(counted, TARGET, EVENTS, there.open);
  await reached(() => relay.connected && relay.lag === 0);
  const savedAfter = async (milliseconds: number) => {
    await pass(milliseconds);
    await writeOne();
    expect(relay.lag).toBe(1);
    await reached(() => relay.lag === 0);
    await settled();
    const saved = saves;
    saves = 0;
    return saved;
  };
  await savedAfter(1000);
  expect([await savedAfter(249), await savedAfter(1), await savedAfter(0)]).toEqual([0, 1, 0]);
  expect(await savedAfter(1000)).toBe(1);
  // What is not saved yet is known to the same server, and to the next one after a stop.
  await savedAfter(0);
  const { published } = there;
  there.go();
  await reached(() => !relay.connected);
  await settled();
  await pass(250);
  await reached(() => relay.connected);
  await settled();
  await stop(relay);
  const next = await startRelay(counted, TARGET, EVENTS, there.open);
  await reached(() => next.connected);
  await settled();
  await stop(next);
  expect([there.attempts, there.published, saves]).toEqual([3, published, 1]);
});

it('a relay waits for what is being saved before it connects again, and before it stops', async () => {
  const there = broker();
  gate.isShut = true;
  await pass(1000);
  const starting = startRelay(shared({ held: 'ours' }, writing(gate.pass)), TARGET, EVENTS, there.open);
  // What it begins with, and what it has brought.
  await reached(() => gate.waiting === 1);
  gate.open();
  const relay = await starting;
  const saving = () => relay.connected && relay.lag === 0 && gate.waiting === 1;
  await reached(saving);
  gate.open();
  await settled();
  await pass(1000);
  await writeOne();
  await reached(saving);
  const { published } = there;
  there.go();
  await pass(1000);
  expect(there.attempts).toBe(1);
  gate.open();
  await reached(() => there.attempts === 2);
  await settled();
  expect(there.published).toBe(published);
  await pass(1000);
  await writeOne();
  await reached(saving);
  let over = false;
  const stopped = relay.stop().then(() => {
    over = true;
  });
  await pass(1000);
  expect(over).toBe(false);
  gate.open();
  await stopped;
});
