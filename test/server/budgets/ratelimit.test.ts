import { describe, expect, it, vi } from 'vitest';
import {
  DEFAULT_RATE,
  OwnRateLimit,
  type RateLimit,
  rateLimitOf,
  rateLimitOfShares,
  setLatest,
  type Taken,
  type TakenShare,
  TokenBuckets,
  tooManyRequests,
} from '../../../src/server/http/ratelimit.ts';
import { openPostgresStore } from '../../../src/server/store/postgres/store.ts';
import type { Store } from '../../../src/server/store/store.ts';
import { TestClock } from '../../support/clock.ts';
import { preparedTest } from '../../support/preparedschemas.ts';

/** The headers of a bucket of a rate with so much left; `wait` where a request was refused. */
function headers(rate: number, left: number, wait?: number) {
  return {
    'ratelimit-limit': String(rate * 2),
    'ratelimit-remaining': String(Math.floor(left)),
    'ratelimit-reset': String(Math.ceil((rate * 2 - left) / rate)),
    ...(wait !== undefined && { 'retry-after': String(wait) }),
  };
}

/** How many requests in a row are allowed. */
async function allowed(limit: RateLimit, caller = 'a'): Promise<number> {
  for (let count = 0; ; count++) if (!(await limit.take(caller)).allowed) return count;
}

const RATES = [1, 2, 3, 7, 20, 21, 100];

describe('the rate limit of a server (D43)', () => {
  it('is 100 a second where nothing else is said, and none where 0 is', async () => {
    expect(DEFAULT_RATE).toBe(100);
    const limit = rateLimitOf({} as Store, 0, new TestClock().now);
    for (let n = 0; n < 1000; n++) expect(await limit.take('a')).toEqual({ allowed: true, headers: {} });
  });

  it.each(RATES)('of %i a second allows twice that at once, and tells what is left', (rate) => {
    const limit = new OwnRateLimit(rate, new TestClock().now);
    for (let left = rate * 2 - 1; left >= 0; left--) {
      expect(limit.take('a')).toEqual({ allowed: true, headers: headers(rate, left) });
    }
    for (let n = 0; n < 3; n++) expect(limit.take('a')).toEqual({ allowed: false, headers: headers(rate, 0, 1) });
    // Another caller has a bucket of its own.
    expect(limit.take('b')).toEqual({ allowed: true, headers: headers(rate, rate * 2 - 1) });
  });

  it.each(RATES)('of %i a second refills by that, evenly, and never beyond twice that', async (rate) => {
    const clock = new TestClock();
    const limit = new OwnRateLimit(rate, clock.now);
    expect(await allowed(limit)).toBe(rate * 2);
    const one = Math.ceil(1000 / rate);
    clock.advance(one - 1);
    expect(limit.take('a').allowed).toBe(false);
    clock.advance(1);
    expect(await allowed(limit)).toBe(1);
    clock.advance(1000);
    expect(await allowed(limit)).toBe(rate);
    clock.advance(1500);
    expect(await allowed(limit)).toBeGreaterThanOrEqual(Math.floor(rate * 1.5));
    clock.advance(2000);
    expect(await allowed(limit)).toBe(rate * 2);
    clock.advance(3_600_000);
    expect(await allowed(limit)).toBe(rate * 2);
  });

  it('tells to wait until there is one request again, a second at least', () => {
    const clock = new TestClock();
    // One in two seconds: the wait is longer than the least.
    const limit = new OwnRateLimit(0.5, clock.now);
    const wait = () => limit.take('a').headers['retry-after'];
    expect([wait(), wait()]).toEqual([undefined, '2']);
    clock.advance(1000);
    expect(wait()).toBe('1');
    clock.advance(1000);
    expect([wait(), wait()]).toEqual([undefined, '2']);
  });

  it('neither gives nor takes anything when the clock is set back', async () => {
    const clock = new TestClock();
    const limit = new OwnRateLimit(10, clock.now);
    for (let n = 0; n < 15; n++) limit.take('a');
    clock.advance(-3_600_000);
    expect(await allowed(limit)).toBe(5);
    clock.advance(500);
    expect(await allowed(limit)).toBe(5);
  });

  it('is one of this server where it has its store alone, and refuses where a shared one says nothing', async () => {
    const { now } = new TestClock();
    const alone = rateLimitOf({} as Store, 3, now);
    expect([await allowed(alone), alone instanceof OwnRateLimit]).toEqual([6, true]);
    const silent = rateLimitOf({ shared: { get: async () => undefined } } as unknown as Store, 3, now);
    expect(await silent.take('a')).toEqual({ allowed: false, headers: headers(3, 0, 1) });
  });

  it('refuses with 429', () => {
    expect(tooManyRequests()).toMatchObject({ status: 429, problems: [{ code: 'limit.rate', source: null }] });
  });
});

describe('token buckets', () => {
  it('are refilled up to now when they are looked at', () => {
    const clock = new TestClock();
    const buckets = new TokenBuckets(300, 0.5, clock.now);
    const bucket = buckets.get('a');
    expect(bucket).toEqual({ tokens: 300, at: clock.now() });
    bucket.tokens -= 200;
    clock.advance(1500);
    expect(buckets.get('a')).toEqual({ tokens: 100.75, at: clock.now() });
    expect(buckets.get('a')).toBe(bucket);
  });

  it('are 10,000 at most: the one that was not used for longest goes, which only fills it', () => {
    const buckets = new TokenBuckets(2, 1, new TestClock().now);
    for (let n = 0; n < 10_000; n++) buckets.get(`caller ${n}`).tokens = 0;
    buckets.get('caller 0');
    buckets.get('one more');
    expect(buckets.get('caller 0').tokens).toBe(0);
    expect(buckets.get('caller 2').tokens).toBe(0);
    expect(buckets.get('caller 1').tokens).toBe(2);
    const map = new Map([
      ['a', 1],
      ['b', 2],
    ]);
    setLatest(map, 'a', 3);
    expect([...map]).toEqual([
      ['b', 2],
      ['a', 3],
    ]);
  });
});

describe('a share of a bucket for another process', () => {
  it.each([
    [1, 1],
    [20, 1],
    [21, 2],
    [100, 5],
  ])('of %i a second is %i, and less where there is not so much', (rate, share) => {
    const clock = new TestClock();
    const limit = new OwnRateLimit(rate, clock.now);
    expect(limit.takeShare('a')).toEqual({ granted: share, tokens: rate * 2 - share });
    for (let left = rate * 2 - share; left > 0; ) {
      const { granted, tokens } = limit.takeShare('a');
      expect(granted).toBe(Math.min(share, left));
      left -= granted;
      expect(tokens).toBe(left);
    }
    expect(limit.takeShare('a')).toEqual({ granted: 0, tokens: 0 });
    expect(limit.take('a').allowed).toBe(false);
    // A part of a request is none.
    clock.advance(Math.floor(999 / rate));
    expect(limit.takeShare('a').granted).toBe(0);
    clock.advance(1000);
    expect(limit.takeShare('a').granted).toBe(share);
  });
});

/** Shares that are given when the test says so. */
function asked(rate: number) {
  const questions: {
    readonly caller: string;
    readonly answer: (share: TakenShare) => void;
    readonly fail: () => void;
  }[] = [];
  const limit = rateLimitOfShares(
    rate,
    (caller) =>
      new Promise((resolve, reject) => {
        questions.push({ caller, answer: resolve, fail: () => reject(new Error('away')) });
      }),
  );
  return { limit, questions };
}

const turn = () => new Promise((resolve) => void setImmediate(resolve));

describe('the rate limit of shares', () => {
  it('asks when its share is used up, and tells what is left together', async () => {
    const left = [6, 3, 0];
    let count = 0;
    const limit = rateLimitOfShares(10, async () => {
      count++;
      const tokens = left.shift();
      return tokens === undefined ? { granted: 0, tokens: 0.5 } : { granted: 3, tokens };
    });
    const taken: Taken[] = [];
    for (let n = 0; n < 10; n++) taken.push(await limit.take('a'));
    expect(taken.map((each) => each.allowed)).toEqual([...Array(9).fill(true), false]);
    expect(taken.slice(0, 9).map((each) => each.headers)).toEqual(
      [8, 7, 6, 5, 4, 3, 2, 1, 0].map((n) => headers(10, n)),
    );
    expect(taken[9]?.headers).toEqual(headers(10, 0.5, 1));
    expect(count).toBe(4);
  });

  it('asks once for all that come together, and for each caller alone', async () => {
    const { limit, questions } = asked(10);
    const both = [limit.take('a'), limit.take('a'), limit.take('a')];
    const other = limit.take('b');
    expect(questions.map(({ caller }) => caller)).toEqual(['a', 'b']);
    questions[0]?.answer({ granted: 2, tokens: 5 });
    await turn();
    // Two are enough for two of them; the third one asks again.
    expect(questions.map(({ caller }) => caller)).toEqual(['a', 'b', 'a']);
    questions[2]?.answer({ granted: 0, tokens: 0 });
    expect((await Promise.all(both)).map(({ allowed: is }) => is)).toEqual([true, true, false]);
    questions[1]?.answer({ granted: 1, tokens: 9 });
    expect(await other).toMatchObject({ allowed: true });
  });

  it('refuses where nothing is granted, and asks again at the next request', async () => {
    const { limit, questions } = asked(10);
    const first = limit.take('a');
    questions[0]?.answer({ granted: 0, tokens: 0 });
    expect(await first).toEqual({ allowed: false, headers: headers(10, 0, 1) });
    const second = limit.take('a');
    expect(questions).toHaveLength(2);
    questions[1]?.answer({ granted: 1, tokens: 0 });
    expect(await second).toMatchObject({ allowed: true });
  });

  it('asks again after a question that failed', async () => {
    const { limit, questions } = asked(10);
    const first = limit.take('a');
    questions[0]?.fail();
    await expect(first).rejects.toThrow('away');
    const second = limit.take('a');
    questions[1]?.answer({ granted: 1, tokens: 0 });
    expect(await second).toMatchObject({ allowed: true });
  });

  it('has again what was given back, to a caller that it knows', async () => {
    const { limit, questions } = asked(10);
    limit.giveBack?.('a');
    const first = limit.take('a');
    questions[0]?.answer({ granted: 1, tokens: 7 });
    expect((await first).headers['ratelimit-remaining']).toBe('7');
    limit.giveBack?.('a');
    limit.giveBack?.('b');
    expect(await limit.take('a')).toEqual({ allowed: true, headers: headers(10, 7) });
    expect(questions).toHaveLength(1);
    // Also while it is asked for more.
    const third = limit.take('a');
    limit.giveBack?.('a');
    questions[1]?.answer({ granted: 2, tokens: 5 });
    expect((await third).headers['ratelimit-remaining']).toBe('7');
    limit.giveBack?.('a');
    expect((await limit.take('a')).headers['ratelimit-remaining']).toBe('7');
  });

  it('keeps the shares of 10,000 callers, those that come again before others', async () => {
    const asking = vi.fn(async (_caller: string) => ({ granted: 3, tokens: 3 }));
    const limit = rateLimitOfShares(10, asking);
    for (let n = 0; n < 10_000; n++) await limit.take(`caller ${n}`);
    for (const caller of ['caller 0', 'one more', 'caller 0', 'caller 1']) await limit.take(caller);
    expect(asking.mock.calls.slice(10_000)).toEqual([['one more'], ['caller 1']]);
  });
});

preparedTest('servers that share a database share the buckets, whatever their clocks say', async ({ url }) => {
  const stores = [await openPostgresStore(url), await openPostgresStore(url)];
  const clocks = [new TestClock(), new TestClock()];
  const [first, second] = stores.map((store, n) => rateLimitOf(store, 100, (clocks[n] as TestClock).now)) as [
    RateLimit,
    RateLimit,
  ];
  try {
    expect(await first.take('a')).toEqual({ allowed: true, headers: headers(100, 199) });
    expect(await second.take('a')).toEqual({ allowed: true, headers: headers(100, 194) });
    const refused = { allowed: false, headers: headers(100, 0, 1) };
    expect([await allowed(first), await allowed(second)]).toEqual([194, 4]);
    expect([await first.take('a'), await second.take('a')]).toEqual([refused, refused]);
    expect((await first.take('b')).allowed).toBe(true);
    // Half a request, then a whole one.
    clocks[0]?.advance(5);
    expect(await allowed(first)).toBe(0);
    clocks[0]?.advance(5);
    expect(await allowed(first)).toBe(1);
    clocks[0]?.advance(500);
    expect(await allowed(first)).toBe(50);
    // A clock that is behind neither empties nor fills it.
    clocks[1]?.advance(-10_000);
    expect(await allowed(second)).toBe(0);
    clocks[1]?.advance(10_510);
    expect(await allowed(second)).toBe(0);
    clocks[1]?.advance(100);
    expect(await allowed(second)).toBe(10);
    clocks[1]?.advance(3_600_000);
    expect(await allowed(second)).toBe(200);
  } finally {
    for (const store of stores) await store.close();
  }
});
