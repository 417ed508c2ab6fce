import { describe, expect, it } from 'vitest';
import { Attempts, networkOf, TooManyAttempts } from '../../../src/server/http/attempts.ts';
import { TestClock } from '../../support/clock.ts';

type Kind = 'token' | 'client';

function fail(attempts: Attempts, address: string, kind: Kind, client = 'one'): void {
  if (kind === 'token') attempts.countToken(address);
  else attempts.beginClient(address, client);
}

/** Fails so often at once; what it gives is how many attempts were let through. */
function failing(
  attempts: Attempts,
  times: number,
  address = '192.0.2.1',
  kind: Kind = 'token',
  client = 'one',
): number {
  let through = 0;
  for (let turn = 0; turn < times; turn++) {
    try {
      fail(attempts, address, kind, client);
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
    expect(() => attempts.beginClient('192.0.2.1', 'one')).toThrowError(
      expect.objectContaining({ status: 429, seconds: 8, problems: [expect.objectContaining({ code: 'limit.rate' })] }),
    );
  });

  it('come back slower to a process that has a part of the limit, which says how long that takes', () => {
    const clock = new TestClock();
    const attempts = new Attempts(40, clock.now, 0.25);
    expect(failing(attempts, 20)).toBe(10);
    clock.advance(3999);
    expect(failing(attempts, 1)).toBe(0);
    clock.advance(1);
    expect(failing(attempts, 2)).toBe(1);
    expect(() => attempts.countToken('192.0.2.1')).toThrowError(expect.objectContaining({ seconds: 4 }));
  });

  it('of a client are let through by a process that has a small part of the limit, as right secrets come together', () => {
    const clock = new TestClock();
    const attempts = new Attempts(300, clock.now, 1 / 16);
    expect(failing(attempts, 100, '192.0.2.1', 'token')).toBe(18);
    expect(failing(attempts, 100, '192.0.2.1', 'client')).toBe(5);
    // They come back as slowly as its part is small.
    clock.advance(159_999);
    expect(failing(attempts, 1, '192.0.2.1', 'client')).toBe(0);
    clock.advance(1);
    expect(failing(attempts, 9, '192.0.2.1', 'client')).toBe(1);
    const strict = new Attempts(10, new TestClock().now, 1 / 16);
    expect(failing(strict, 100, '192.0.2.1', 'client')).toBe(1);
  });

  it('do not count when they were none', () => {
    const attempts = new Attempts(30, new TestClock().now);
    for (let turn = 0; turn < 50; turn++) attempts.beginClient('192.0.2.1', 'one')();
    expect(failing(attempts, 9, '192.0.2.1', 'client')).toBe(3);
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

describe('failed attempts of a client', () => {
  it('are those of the client from the address: no other client and no other address pays for them', () => {
    const attempts = new Attempts(30, new TestClock().now);
    const all = [
      ['192.0.2.1', 'one'],
      ['192.0.2.1', 'one'],
      ['192.0.2.1', 'two'],
      ['192.0.2.2', 'one'],
      // Whoever has one address of a network has all of them.
      ['2001:db8::1', 'one'],
      ['2001:db8::2', 'one'],
    ] as const;
    expect(all.map(([address, client]) => failing(attempts, 9, address, 'client', client))).toEqual([3, 0, 3, 3, 3, 0]);
  });

  it('are no failures of tokens, and those none of a client', () => {
    const attempts = new Attempts(30, new TestClock().now);
    expect([failing(attempts, 99, '192.0.2.1', 'client'), failing(attempts, 99)]).toEqual([3, 30]);
  });
});

describe('the checks of secrets', () => {
  it('of one address run one after the other, beside those of others', async () => {
    const attempts = new Attempts(30, new TestClock().now);
    const running = new Map<string, number>();
    let most = 0;
    let together = 0;
    const check = (address: string) =>
      attempts.inTurn(address, async () => {
        running.set(address, (running.get(address) ?? 0) + 1);
        most = Math.max(most, running.get(address) ?? 0);
        together = Math.max(together, [...running.values()].filter((count) => count > 0).length);
        await new Promise((resolve) => setImmediate(resolve));
        running.set(address, (running.get(address) ?? 0) - 1);
        if (address === '192.0.2.1') throw new Error('Wrong.');
        return address;
      });
    const one = Array.from({ length: 20 }, () => check('192.0.2.1').catch(() => 'wrong'));
    expect(await Promise.all([...one, check('192.0.2.2')])).toEqual([...Array(20).fill('wrong'), '192.0.2.2']);
    expect([most, together]).toEqual([1, 2]);
    // An address that is done takes no memory.
    expect(Reflect.get(attempts, 'checking')).toEqual(new Map());
  });

  it('of one network run one after the other, also when one comes while the last of others is checked', async () => {
    const attempts = new Attempts(30, new TestClock().now);
    const ends: (() => void)[] = [];
    const check = (address: string) => attempts.inTurn(address, () => new Promise<void>((end) => ends.push(end)));
    const [first, second] = [check('2001:db8::1'), check('2001:db8::2')];
    await expect.poll(() => ends.length).toBe(1);
    ends[0]?.();
    await first;
    await expect.poll(() => ends.length).toBe(2);
    const third = check('2001:db8::3');
    await new Promise((resolve) => setImmediate(resolve));
    expect(ends).toHaveLength(2);
    ends[1]?.();
    await second;
    await expect.poll(() => ends.length).toBe(3);
    ends[2]?.();
    await third;
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
