import { describe, expect, it } from 'vitest';
import { Attempts, networkOf, TooManyAttempts } from '../../../src/server/http/attempts.ts';
import { TestClock } from '../../support/clock.ts';

/** Fails so often at once; what it gives is how many attempts were let through. */
function failing(attempts: Attempts, times: number, address = '192.0.2.1', kind: 'token' | 'client' = 'token'): number {
  let through = 0;
  for (let turn = 0; turn < times; turn++) {
    try {
      attempts.begin(kind, address);
      through++;
    } catch (error) {
      if (!(error instanceof TooManyAttempts)) throw error;
    }
  }
  return through;
}

describe('failed attempts of an address', () => {
  it('are let through so often at once, then one a second', () => {
    const clock = new TestClock();
    const attempts = new Attempts(5, clock.now);
    expect(failing(attempts, 9)).toBe(5);
    clock.advance(999);
    expect(failing(attempts, 9)).toBe(0);
    clock.advance(1);
    expect(failing(attempts, 9)).toBe(1);
    clock.advance(3_600_000);
    expect(failing(attempts, 9)).toBe(5);
  });

  it('are told how long to wait', () => {
    const attempts = new Attempts(12, new TestClock().now);
    failing(attempts, 1, '192.0.2.1', 'client');
    expect(() => attempts.begin('client', '192.0.2.1')).toThrowError(
      expect.objectContaining({ status: 429, seconds: 8, problems: [expect.objectContaining({ code: 'limit.rate' })] }),
    );
  });

  it('do not count when they were none', () => {
    const attempts = new Attempts(3, new TestClock().now);
    for (let turn = 0; turn < 50; turn++) attempts.begin('token', '192.0.2.1')();
    expect(failing(attempts, 9)).toBe(3);
  });

  it('count at once, so that many at the same time are limited too', () => {
    const attempts = new Attempts(30, new TestClock().now);
    expect(failing(attempts, 100, '192.0.2.1', 'client')).toBe(3);
  });

  it('are those of the address alone', () => {
    const attempts = new Attempts(2, new TestClock().now);
    expect(['192.0.2.1', '192.0.2.1', '192.0.2.2'].map((address) => failing(attempts, 9, address))).toEqual([2, 0, 2]);
  });

  it('are not limited by 0', () => {
    expect(failing(new Attempts(0, new TestClock().now), 1000)).toBe(1000);
  });

  it('are not forgotten by a clock that is set back', () => {
    const clock = new TestClock();
    const attempts = new Attempts(2, clock.now);
    failing(attempts, 2);
    clock.advance(-60_000);
    expect(failing(attempts, 9)).toBe(0);
  });

  it('take no more memory for more addresses than a server has at once', () => {
    const attempts = new Attempts(1, new TestClock().now);
    for (let n = 0; n < 20_000; n++) failing(attempts, 1, `2001:db8:${n.toString(16)}::1`);
    // The first is forgotten, the last is not.
    expect([failing(attempts, 1, '2001:db8:0::1'), failing(attempts, 1, '2001:db8:4e1f::1')]).toEqual([1, 0]);
  });
});

describe('a token that was accepted', () => {
  it('is known until it is forgotten, or ten thousand others were', () => {
    const attempts = new Attempts(1, new TestClock().now);
    for (const hash of ['a', 'b']) attempts.accept(hash);
    attempts.forget('a');
    expect(['a', 'b', 'c'].map((hash) => attempts.isAccepted(hash))).toEqual([false, true, false]);
    for (let n = 0; n < 10_000; n++) attempts.accept(String(n));
    expect(attempts.isAccepted('b')).toBe(false);
  });
});

describe('the network of an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::1', '0:0:0:0'],
    ['::', '0:0:0:0'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:DB8:0:0:ffff::9', '2001:db8:0:0'],
    ['2001:0db8:00a0:0001:1:2:3:4', '2001:db8:a0:1'],
    ['2001:db8:a0:2::', '2001:db8:a0:2'],
    ['1::2:3:4:5:6:7', '1:0:2:3'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['not an address', 'not an address'],
  ])('%s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
