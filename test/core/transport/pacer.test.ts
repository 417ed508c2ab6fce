import { describe, expect, it } from 'vitest';
import type { ApiClient } from '../../../src/core/transport/client.ts';
import { Pacer } from '../../../src/core/transport/pacer.ts';
import { DEFAULT_RETRY } from '../../../src/core/transport/retry.ts';
import type { IncomingResponse } from '../../../src/core/transport/send.ts';
import { seeded } from '../../support/faults/seeded.ts';
import { LimitedServer } from './limitedserver.ts';
import { answer, clientOf, failureOf, Script, SleepLog, success } from './script.ts';
import { VirtualClock } from './virtualclock.ts';

const READ = { method: 'GET', path: '/api/v1/patients' } as const;
const LATENCY = { least: 5, most: 60 };

/** So many walkers that each ask for so many pages, one after the other. */
async function walk(client: ApiClient, walkers: number, pages: number): Promise<void> {
  const walker = async () => {
    for (let page = 0; page < pages; page++) await client.request(READ);
  };
  await Promise.all(Array.from({ length: walkers }, walker));
}

async function walked(
  rate: number,
  walkers: number,
  pages: number,
  tells: 'RateLimit and Retry-After' | 'Retry-After' | 'nothing',
) {
  const clock = new VirtualClock();
  const random = seeded(rate * 1000 + walkers);
  const server = new LimitedServer(clock, { rate, latency: LATENCY, tells, random });
  const client = clientOf(new Script(), { clock, random, send: server.send });
  const started = clock.now();
  await clock.run(walk(client, walkers, pages));
  return { server, client, seconds: (clock.now() - started) / 1000 };
}

describe('parallel walkers', () => {
  it.each([
    [100, 1, 2000],
    [100, 4, 500],
    [100, 16, 200],
    [20, 8, 100],
    [5, 4, 40],
    [5, 16, 20],
    [1, 4, 10],
    [2, 1, 30],
  ])(
    'at %i requests a second, %i of them with %i pages each, meet the limit once at most',
    async (rate, walkers, pages) => {
      const { server, client, seconds } = await walked(rate, walkers, pages, 'RateLimit and Retry-After');
      const total = walkers * pages;
      expect(server.taken).toHaveLength(total);
      // Only what left before the first answer told of the limit can be too much.
      if (walkers <= 2 * rate) expect(server.refused).toEqual([]);
      expect(server.episodes).toBeLessThanOrEqual(1);
      expect(server.early).toEqual([]);
      expect(client.statistics).toMatchObject({
        requests: total + server.refused.length,
        retries: server.refused.length,
      });
      // The burst of twice the rate is free; the rest takes its time, but not much more than the server wants.
      const least = (total - 2 * rate) / rate;
      expect(seconds).toBeGreaterThan(least);
      expect(seconds).toBeLessThan(least * 1.3 + walkers * 0.1 + 4 + (pages * LATENCY.most) / 1000);
    },
  );

  it.each(['Retry-After', 'nothing'] as const)('of a server that tells %s settle at its rate', async (tells) => {
    const { server, seconds } = await walked(20, 8, 300, tells);
    expect(server.taken).toHaveLength(2400);
    expect(server.early).toEqual([]);
    expect(server.refused.length).toBeLessThan(20);
    expect(seconds).toBeLessThan((2400 / 20) * 1.6);
  });

  it('of several programs with one token get along', async () => {
    const clock = new VirtualClock();
    const random = seeded(7);
    const tells = 'RateLimit and Retry-After';
    const server = new LimitedServer(clock, { rate: 20, latency: LATENCY, tells, random });
    const clients = [1, 2, 3].map(() => clientOf(new Script(), { clock, random, send: server.send }));
    await clock.run(Promise.all(clients.map((client) => walk(client, 4, 100))));
    expect(server.taken).toHaveLength(1200);
    expect(server.refused.length).toBeLessThan(30);
  });

  it('do not leave all at once when a pause ends', async () => {
    const { server } = await walked(5, 16, 20, 'Retry-After');
    expect(server.pauses.length).toBeGreaterThan(0);
    expect(server.busiestAfterPause(100)).toBeLessThanOrEqual(6);
  });
});

const left = (remaining: number, reset: number) => ({
  'ratelimit-limit': '20',
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(reset),
});

describe('a turn', () => {
  it('comes at once while the server reports room', async () => {
    const clock = new SleepLog();
    const script = new Script(...[19, 18, 2].map((remaining) => success([], {}, left(remaining, 1))), success([]));
    await walk(clientOf(script, { clock }), 1, 4);
    expect(clock.sleeps).toEqual([]);
  });

  it('comes at the rate of refilling when the room is used up', async () => {
    const clock = new SleepLog();
    // 20 requests of room fill in 2 s: one each 100 ms.
    const script = new Script(success([], {}, left(0, 2)), success([]));
    await walk(clientOf(script, { clock }), 1, 2);
    expect(clock.sleeps).toEqual([100]);
  });

  it.each<[string, number, Record<string, string>, number]>([
    ['429 with Retry-After in seconds', 429, { 'retry-after': '7' }, 7000],
    ['429 with Retry-After as a date', 429, { 'retry-after': 'Mon, 02 Mar 2026 12:00:09 GMT' }, 9000],
    ['503 with Retry-After', 503, { 'retry-after': '3' }, 3000],
    ['429 without Retry-After', 429, {}, 500],
    ['429 with a Retry-After of days', 429, { 'retry-after': '900000' }, 300_000],
    ['503 without Retry-After', 503, {}, 0],
    ['500 with Retry-After', 500, { 'retry-after': '3' }, 0],
  ])('waits for all that %s announced', async (_name, status, headers, wait) => {
    const clock = new VirtualClock();
    const started = clock.now();
    const sent: number[] = [];
    const client = clientOf(new Script(), {
      clock,
      send: async () => {
        sent.push(clock.now() - started);
        return sent.length === 1 ? answer(status, '', headers) : success([]);
      },
    });
    const first = client.request(READ);
    const second = clock.sleep(100).then(() => client.request(READ));
    await clock.run(Promise.all([first, second]));
    expect(sent[1]).toBe(Math.max(wait, 100));
    expect(client.statistics).toMatchObject({ requests: 3, retries: 1 });
  });

  it('counts the time in which requests are held back once, however many they are', async () => {
    const clock = new VirtualClock();
    const script = new Script(
      answer(429, '', { 'retry-after': '10' }),
      ...Array.from({ length: 4 }, () => success([])),
    );
    const client = clientOf(script, { clock });
    await clock.run(Promise.all([1, 2, 3, 4].map((at) => clock.sleep(at).then(() => client.request(READ)))));
    expect(client.statistics.throttledMilliseconds).toBeGreaterThanOrEqual(10_000);
    expect(client.statistics.throttledMilliseconds).toBeLessThan(10_200);
  });

  it('tells at any time for how long requests have been held back', async () => {
    const clock = new VirtualClock(0);
    const pacer = new Pacer(clock);
    const held = async (at: number, milliseconds: number) => {
      await clock.sleep(at);
      await pacer.pause(milliseconds);
    };
    const told: number[] = [];
    const asked = async (at: number) => {
      await clock.sleep(at);
      told.push(pacer.statistics.throttledMilliseconds);
    };
    const pauses = [held(1000, 10_000), held(4000, 8000), held(20_000, 3000)];
    await clock.run(Promise.all([...pauses, ...[500, 5000, 11_500, 15_000, 21_000, 30_000].map(asked)]));
    expect(told).toEqual([0, 4000, 10_500, 11_000, 12_000, 14_000]);
  });

  it.each<[string, IncomingResponse, number, number]>([
    ['a refusal by rate', answer(429, '', { 'retry-after': '3' }), 1, 3000],
    ['a failure', answer(500, ''), 1, 0],
    ['a last look after no further attempt', answer(503, '', { 'retry-after': '3' }), 0, 0],
  ])('counts as held back what the server asked for: %s', async (_name, first, maxRetries, expected) => {
    const retry = { ...DEFAULT_RETRY, maxRetries };
    const client = clientOf(new Script(first, success({ id: 1 })), { retry });
    const looks = [undefined, { id: 1 }];
    const lookUp = async () => looks.shift();
    await client.request({ method: 'POST', path: '/api/v1/patients', body: {}, lookUp });
    expect(client.statistics.throttledMilliseconds).toBe(expected);
  });

  it('that is waited for can be given up', async () => {
    const clock = new VirtualClock();
    const started = clock.now();
    const script = new Script(answer(429, '', { 'retry-after': '60' }));
    const client = clientOf(script, { clock, retry: { ...DEFAULT_RETRY, maxRetries: 0 } });
    const stop = new AbortController();
    const work = async () => {
      await failureOf(client.request(READ));
      const given = clock.sleep(1000).then(() => stop.abort(new Error('stopped')));
      await expect(client.request({ ...READ, signal: stop.signal })).rejects.toThrow('stopped');
      await given;
    };
    await clock.run(work());
    expect(clock.now() - started).toBe(1000);
    expect(client.statistics).toEqual({ requests: 1, retries: 0, throttledMilliseconds: 1000 });
  });

  it('waits for the longest of the pauses that were announced', async () => {
    const clock = new SleepLog();
    const pacer = new Pacer(clock);
    const [one, other] = [await pacer.acquire(false), await pacer.acquire(false)];
    one({}, 10_000);
    other({}, 1000);
    await pacer.acquire(true);
    expect(clock.sleeps).toEqual([10_000]);
  });

  it('is not held by a request that was given up', async () => {
    const clock = new SleepLog();
    const stop = new AbortController();
    const givenUp = () => {
      stop.abort(new Error('stopped'));
      throw stop.signal.reason;
    };
    const client = clientOf(new Script(givenUp, success([], {}, left(1, 1)), success([])), { clock });
    await expect(client.request({ ...READ, signal: stop.signal })).rejects.toThrow('stopped');
    await walk(client, 1, 2);
    expect(clock.sleeps).toEqual([]);
  });

  it('is spaced by the rate before a pause, which the pause itself does not make slower', async () => {
    let now = 0;
    const sleep = async (milliseconds: number) => {
      now += milliseconds;
    };
    const pacer = new Pacer({ now: () => now, sleep });
    const sent = async (pause?: number) => {
      (await pacer.acquire(false))({}, pause);
      return now;
    };
    for (; now < 1000; now += 100) await sent();
    await sent(60_000);
    // Half the rate before; the two gaps between the pauses come in by an eighth each.
    expect((await sent()) - (await sent())).toBe(-200);
    await sent(60_000);
    expect((await sent()) - (await sent())).toBe(-247);
  });

  it('is spaced by the rate that the server reported, where the client has none of its own', async () => {
    const clock = new SleepLog();
    const pacer = new Pacer(clock);
    (await pacer.acquire(false))(left(0, 2), 5000);
    for (let sent = 0; sent < 3; sent++) (await pacer.acquire(false))({});
    // In the pause there was room for a burst again.
    expect(clock.sleeps).toEqual([5000, 100, 100]);
  });

  it('is not spaced anew by an answer to what left before the pause', async () => {
    const clock = new SleepLog();
    const pacer = new Pacer(clock);
    const [first, late] = [await pacer.acquire(false), await pacer.acquire(false)];
    first({}, 5000);
    const slow = await pacer.acquire(false);
    await clock.sleep(1000);
    slow({});
    (await pacer.acquire(false))({});
    late({}, 0);
    // The first of them is due; the second after a spacing as short as before.
    for (let sent = 0; sent < 2; sent++) (await pacer.acquire(false))({});
    expect(clock.sleeps).toEqual([5000, 1000, 20]);
  });

  it('comes although the clock of the machine is set back', async () => {
    let now = 1_000_000;
    const sleeps: number[] = [];
    const sleep = async (milliseconds: number) => {
      sleeps.push(milliseconds);
      now -= 3_600_000;
    };
    const pacer = new Pacer({ now: () => now, sleep });
    (await pacer.acquire(false))({}, 5000);
    await pacer.acquire(true);
    expect(sleeps).toEqual([5000]);
  });
});
