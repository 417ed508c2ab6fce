import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PACE, Pace } from '../../../../src/server/import/staged/pace.ts';
import type { Reader } from '../../../../src/server/store/store.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A pace without pauses when none are given; `serve` notes in the audit log that somebody was served. */
function open(pause = 0) {
  let last = 5;
  const read = { get: async () => ({ last_id: last }) } as unknown as Reader;
  return { pace: new Pace(read, { ...PACE, pause }), serve: () => void last++ };
}

it('takes as many records as fit in a tenth of a second while nobody is served, at most twice as many each time', async () => {
  const { pace } = open();
  expect([await pace.next(), await pace.next()]).toEqual([20, 20]);
  // A millisecond for each.
  await pace.published(20, 20, 30);
  expect([await pace.next(), await pace.next(), await pace.next(), await pace.next()]).toEqual([40, 80, 100, 100]);
  // Slower by far, once: a quarter of it counts.
  await pace.published(100, 500, 500);
  expect(await pace.next()).toBe(50);
  // So slow that fewer would not help.
  await pace.published(50, 5000, 5000);
  expect(await pace.next()).toBe(20);
});

it('takes 2000 at most', async () => {
  const { pace } = open();
  await pace.published(20, 0.01, 1);
  const sizes = [];
  for (let n = 0; n < 8; n++) sizes.push(await pace.next());
  expect(sizes).toEqual([40, 80, 160, 320, 640, 1280, 2000, 2000]);
});

it('takes as many as fit in two milliseconds for five seconds after somebody was served', async () => {
  const { pace, serve } = open();
  await pace.next();
  // A twentieth of a millisecond for each: 2000 in a tenth of a second, 40 in two milliseconds.
  await pace.published(20, 1, 1);
  serve();
  expect([await pace.next(), await pace.next()]).toEqual([40, 40]);
  vi.advanceTimersByTime(4_999);
  expect(await pace.next()).toBe(40);
  serve();
  expect(await pace.next()).toBe(40);
  vi.advanceTimersByTime(5_000);
  expect(await pace.next()).toBe(80);
});

it('does not count the first look as somebody who is served', async () => {
  const { pace } = open();
  await pace.published(20, 1, 1);
  expect([await pace.next(), await pace.next()]).toEqual([40, 80]);
});

it('pauses as long as a transaction took, or as often as is said, while somebody is served', async () => {
  for (const times of [1, 3]) {
    const { pace, serve } = open(times);
    const isOver = async () => {
      let over = false;
      const published = pace.published(20, 1, 40).then(() => (over = true));
      await vi.advanceTimersByTimeAsync(0);
      const atOnce = over;
      await vi.advanceTimersByTimeAsync(40 * times - 1);
      const before = over;
      await vi.advanceTimersByTimeAsync(1);
      await published;
      return [atOnce, before];
    };
    await pace.next();
    expect(await isOver()).toEqual([true, true]);
    serve();
    await pace.next();
    expect(await isOver()).toEqual([false, false]);
  }
});
