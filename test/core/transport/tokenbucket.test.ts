import { describe, expect, it } from 'vitest';
import { readRateLimit, ServerTokenBucket } from '../../../src/core/transport/pacer.ts';
import { OwnRateLimit } from '../../../src/server/http/ratelimit.ts';

describe('readRateLimit', () => {
  const headers = (limit: string, remaining: string, reset: string) => ({
    'ratelimit-limit': limit,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': reset,
  });

  it.each([
    ['numbers', headers('200', '7', '2'), { limit: 200, remaining: 7, reset: 2 }],
    ['a policy after the number', headers('100, 100;w=60', '7', '2'), { limit: 100, remaining: 7, reset: 2 }],
    ['more left than there is', headers('10', '99', '0'), { limit: 10, remaining: 10, reset: 0 }],
    ['no limit', headers('0', '0', '0'), undefined],
    ['a negative number', headers('10', '-1', '1'), undefined],
    ['a fraction', headers('10', '1.5', '1'), undefined],
    ['a word', headers('10', 'many', '1'), undefined],
    ['no limit but the rest', headers('', '7', '2'), undefined],
    ['nothing left but the rest', headers('10', '', '2'), undefined],
    ['no reset but the rest', headers('10', '7', ''), undefined],
    ['one header alone', { 'ratelimit-limit': '10' }, undefined],
    ['none', {}, undefined],
  ])('reads %s', (_name, given, expected) => {
    expect(readRateLimit(given)).toEqual(expected);
  });
});

describe('the estimate of the rate', () => {
  it.each([1, 2, 3, 7, 20, 100, 999])(
    'of a server that takes %i a second is never too high, and soon right',
    (rate) => {
      let now = 0;
      const server = new OwnRateLimit(rate, () => now);
      const bucket = new ServerTokenBucket();
      for (let order = 1; order <= 3 * rate; order++) {
        now += 3;
        const report = readRateLimit(server.take('caller').headers);
        if (report !== undefined) bucket.report(report, order, 0, now);
        expect(bucket.rate * 1000).toBeLessThanOrEqual(rate + 1e-9);
      }
      if (rate < 300) expect(bucket.rate * 1000).toBeCloseTo(rate, 5);
    },
  );
});

describe('room', () => {
  const FULL = { limit: 20, remaining: 10, reset: 1 };

  it('is there until an answer told otherwise', () => {
    const bucket = new ServerTokenBucket();
    for (let sent = 0; sent < 1000; sent++) bucket.take();
    expect(bucket.roomAt(5)).toBe(5);
  });

  it('is less by what is under way and by what is left to others', () => {
    const bucket = new ServerTokenBucket();
    bucket.report(FULL, 1, 8, 0);
    // 10 left, 1 for others, 8 under way: one more may go, then one each 100 ms.
    expect(bucket.roomAt(0)).toBe(0);
    bucket.take();
    expect(bucket.roomAt(0)).toBe(100);
  });

  it.each([
    ['one left of many, nothing under way', 1, 0, 0],
    ['none left', 0, 0, 100],
    ['one left, and one under way', 1, 1, 100],
    ['a few left, as many under way', 3, 3, 100],
    ['a few left, fewer under way', 3, 2, 0],
    ['more than enough left', 500, 0, 0],
  ])('with %s', (_name, remaining, underWay, wait) => {
    const bucket = new ServerTokenBucket();
    bucket.report({ limit: 1000, remaining: 900, reset: 10 }, 1, 0, 0);
    bucket.report({ limit: 1000, remaining, reset: 100 }, 2, underWay, 0);
    expect(bucket.roomAt(0)).toBe(wait);
  });

  it('is not raised by an answer that was overtaken', () => {
    const bucket = new ServerTokenBucket();
    bucket.report({ ...FULL, remaining: 0 }, 2, 0, 0);
    bucket.report({ ...FULL, remaining: 9 }, 1, 0, 0);
    expect(bucket.roomAt(0)).toBeGreaterThan(0);
  });

  it('is there where the server takes no time to fill up', () => {
    const bucket = new ServerTokenBucket();
    bucket.report({ limit: 20, remaining: 0, reset: 0 }, 1, 0, 7);
    expect(bucket.rate).toBe(0);
    expect(bucket.roomAt(7)).toBe(7);
  });

  it('comes as slowly as a server says that has changed its limit', () => {
    const bucket = new ServerTokenBucket();
    bucket.report({ limit: 1000, remaining: 900, reset: 1 }, 1, 0, 0);
    bucket.report({ limit: 10, remaining: 0, reset: 10 }, 2, 0, 0);
    expect(bucket.roomAt(0)).toBe(1000);
  });

  it('comes back with a request that the server did not count, and for one other alone', () => {
    const bucket = new ServerTokenBucket();
    bucket.report({ limit: 22, remaining: 2, reset: 2 }, 1, 0, 0);
    bucket.take();
    bucket.giveBack();
    expect(bucket.roomAt(0)).toBe(0);
    bucket.take();
    expect(bucket.roomAt(0)).toBe(100);
  });
});
