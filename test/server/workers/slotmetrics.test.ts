import { afterEach, expect, it, vi } from 'vitest';
import { RequestTimes } from '../../../src/server/metrics/requesttimes.ts';
import type { ToldMetrics } from '../../../src/server/metrics/route.ts';
import { SlotMetrics } from '../../../src/server/workers/slotmetrics.ts';

afterEach(() => void vi.useRealTimers());

/** What a process tells that has answered so many requests. */
function told(count: number): ToldMetrics {
  const requests = new RequestTimes();
  for (let n = 0; n < count; n++) requests.record({ method: 'GET', route: '/', status: 200, seconds: 0.001 });
  return { requests: requests.all(), others: [] };
}

/** The requests that all of them have answered together. */
function sum(all: readonly ToldMetrics[]): number {
  return all.flatMap(({ requests }) => requests).reduce((total, { count }) => total + count, 0);
}

it('counts on what processes have told that ended, however many there were', async () => {
  const metrics = new SlotMetrics();
  expect(await metrics.ended()).toEqual([]);
  for (const count of [1, 2, 4]) {
    metrics.keep(told(count - 1));
    metrics.keep(told(count));
    metrics.end();
  }
  expect(sum(await metrics.ended())).toBe(7);
  expect(sum(await metrics.all(async () => told(8)))).toBe(15);
  // Whoever ends has told that, too; one that ended without a word changes nothing.
  metrics.end();
  metrics.end();
  expect(sum(await metrics.ended())).toBe(15);
});

it('takes what a process told last where it fails to tell', async () => {
  const metrics = new SlotMetrics();
  const failing = () => Promise.reject(new Error('It has ended.'));
  expect(sum(await metrics.all(failing))).toBe(0);
  metrics.keep(told(3));
  expect(sum(await metrics.all(failing))).toBe(3);
  expect(sum(await metrics.all(async () => told(5)))).toBe(5);
  // One that answers nothing keeps whoever asks for the metrics waiting for two seconds at most.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const answered = vi.fn();
  const asked = metrics.all(() => new Promise(() => undefined)).finally(answered);
  await vi.advanceTimersByTimeAsync(1999);
  expect(answered).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(sum(await asked)).toBe(5);
});
