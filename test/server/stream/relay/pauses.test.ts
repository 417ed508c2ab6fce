import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Broker } from '../../../../src/server/stream/relay/broker.ts';
import { Cursors } from '../../../../src/server/stream/relay/cursors.ts';
import { Relay } from '../../../../src/server/stream/relay/relay.ts';
import { type TestService, testService } from '../../../support/service.ts';
import { TARGET } from './fakebroker.ts';

// Its timers are not among those that are replaced.
vi.mock('node:timers/promises', () => ({
  setTimeout: (milliseconds: number, value: unknown, { signal }: { readonly signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', end);
        resolve(value);
      }, milliseconds);
      const end = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      if (signal?.aborted) end();
      else signal?.addEventListener('abort', end, { once: true });
    }),
}));

const EVENTS = { connected: () => {}, failed: () => {} };

let service: TestService;
beforeEach(async () => {
  service = await testService();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await service.close();
});

/** Lets time pass, and what is due then be done. */
async function pass(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
  await settled();
}

async function settled(): Promise<void> {
  for (let n = 0; n < 40; n++) await turn();
}

const turn = () => new Promise((resolve) => void setImmediate(resolve));

/** Waits for what is under way, however long the machine takes for it; no time passes meanwhile. */
async function reached(holds: () => boolean): Promise<void> {
  for (let turns = 0; !holds(); turns++) {
    if (turns === 20_000) throw new Error('It does not happen.');
    await turn();
  }
}

async function stop(relay: Relay): Promise<void> {
  const stopped = relay.stop();
  await pass(10_000);
  await stopped;
}

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

/** The same service on a store of several servers, whose leases are as the test says: ours, of another server, or unknown. */
function shared(lease: OtherServers) {
  const get = async () => {
    lease.asked = (lease.asked ?? 0) + 1;
    if (lease.held === 'unknown') throw new Error('no database');
    if (lease.held === 'another') return undefined;
    await lease.atLast?.();
    return {};
  };
  const store = Object.create(service.service.store, { shared: { value: { get } } });
  return Object.create(service.service, { store: { value: store } }) as typeof service.service;
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
  const relay = await Relay.start(service.service, TARGET, EVENTS, away.open);
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
  const relay = await Relay.start(shared(lease), TARGET, EVENTS, away.open);
  await settled();
  for (let second = 0; second < 10; second++) await pass(1000);
  expect(away.attempts).toBe(0);
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
  const relay = await Relay.start(shared(lease), TARGET, EVENTS, there.open);
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
  await stop(relay);
  // Nothing takes again what it has given back.
  const { asked } = lease;
  await pass(10_000);
  expect(lease.asked).toBe(asked);
});

it('a server whose lease another one has stops at once', async () => {
  const lease: OtherServers = { held: 'ours' };
  const there = broker();
  const relay = await Relay.start(shared(lease), TARGET, EVENTS, there.open);
  await reached(() => relay.connected);
  await settled();
  lease.held = 'another';
  await pass(3000);
  await reached(() => !relay.connected);
  await pass(10_000);
  expect(there.attempts).toBe(1);
  await stop(relay);
});
