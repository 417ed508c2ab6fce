import { getEventListeners } from 'node:events';
import type { Sql } from 'sql-template-tag';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Store } from '../../../src/server/store/store.ts';
import { OutboxHead } from '../../../src/server/stream/outboxhead.ts';
import type { Head } from '../../../src/server/stream/positions.ts';

const head = (org: number, seq: number): Head => ({ org, seq, floor: 0, base: 0 });

/** What the store has, and what was asked of it: of which organizations, `all` of them when none is named. */
let stored: Head[];
let asked: (number[] | 'all')[];
let answer: () => Promise<void>;
let committed: (() => void) | undefined;
let heads: OutboxHead;

/** A store whose answers come when the test says so, which no real one can be made to do. */
const store = {
  read: {
    async all({ values }: Sql) {
      const orgs = values as number[];
      asked.push(orgs.length === 0 ? 'all' : orgs);
      // As it was when it was asked.
      const found = stored.filter(({ org }) => orgs.length === 0 || orgs.includes(org));
      await answer();
      return found;
    },
  },
  onCommit(callback: () => void) {
    committed = callback;
    return () => {
      committed = undefined;
    };
  },
} as unknown as Store;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  [stored, asked, answer] = [[head(1, 5), head(2, 7)], [], async () => {}];
  heads = new OutboxHead(store, stored);
  // Longer than it is to be quiet.
  await pass(100);
});
afterEach(() => {
  heads.close();
  vi.useRealTimers();
});

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

/** A wait, and what it has come to. */
function waiting(org: number | undefined, seen: number, milliseconds = 60_000, signal?: AbortSignal) {
  const state: { moved?: boolean } = {};
  void heads.beyond(org, seen, milliseconds, signal).then((moved) => {
    state.moved = moved;
  });
  return state;
}

it('wakes whoever waits for what has moved, and nobody else, behind those who are to know before', async () => {
  const steps: string[] = [];
  heads.onAdvance = () => steps.push('known');
  void heads.beyond(1, 5, 60_000).then(() => steps.push('woken'));
  const [one, other, any] = [waiting(1, 5), waiting(2, 7), waiting(undefined, 0)];
  await pass(10);
  expect([one, other, any, steps]).toEqual([{}, {}, {}, []]);
  stored = [head(1, 8), head(2, 7)];
  committed?.();
  await pass(10);
  expect([one, other, any, steps]).toEqual([{ moved: true }, {}, { moved: true }, ['known', 'woken']]);
  expect([heads.newestOf(1), heads.written, heads.moves]).toEqual([8, 3, 1]);
  // Whoever looks later finds it, without a wait; a history that ended earlier has moved, too.
  expect([await heads.beyond(1, 5, 60_000), await heads.beyond(undefined, 0, 60_000)]).toEqual([true, true]);
  stored = [head(1, 2), head(2, 7)];
  const back = waiting(1, 8);
  await pass(10);
  expect([back, heads.newestOf(1), heads.moves]).toEqual([{ moved: true }, 2, 2]);
});

it('counts no numbers that were left out, and no messages that were gone before they were looked for', async () => {
  for (const [next, written] of [
    [{ ...head(1, 20), base: 17 }, 3],
    [{ ...head(1, 30), base: 17, floor: 26 }, 7],
    [{ ...head(1, 20), base: 17, floor: 20 }, 7],
  ] as const) {
    stored = [next];
    await heads.refresh();
    expect(heads.written).toBe(written);
  }
});

it('asks of those alone for whom somebody waits, of all when somebody waits for any or too many wait', async () => {
  waiting(2, 7);
  await pass(0);
  waiting(1, 5);
  waiting(1, 5);
  await pass(10);
  waiting(undefined, 0);
  await pass(10);
  expect(asked).toEqual([[2], [2, 1], 'all']);
  heads.close();
  heads = new OutboxHead(store, stored);
  for (let org = 1; org <= 200; org++) waiting(org, org === 1 ? 5 : org === 2 ? 7 : 0);
  await pass(10);
  expect(asked.at(-1)).toHaveLength(200);
  waiting(201, 0);
  await pass(10);
  expect(asked.at(-1)).toBe('all');
});

it('asks at once, then after ten milliseconds however often there are commits, and each second without one', async () => {
  waiting(1, 5);
  await pass(0);
  expect(asked).toHaveLength(1);
  for (let n = 0; n < 5; n++) committed?.();
  await pass(9);
  expect(asked).toHaveLength(1);
  await pass(1);
  expect(asked).toHaveLength(2);
  // As another process may have written.
  await pass(989);
  expect(asked).toHaveLength(2);
  await pass(1);
  await pass(10);
  expect(asked).toHaveLength(3);
});

it('asks nothing while nobody waits, and keeps nothing of those who have waited', async () => {
  const stop = new AbortController();
  const [late, left] = [waiting(1, 5, 50), waiting(2, 7, 60_000, stop.signal)];
  await pass(50);
  expect(late).toEqual({ moved: false });
  stop.abort();
  await pass(0);
  expect(left).toEqual({ moved: false });
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  const { length } = asked;
  committed?.();
  await pass(5000);
  expect(asked).toHaveLength(length);
  // The one that looks each second.
  expect(vi.getTimerCount()).toBe(1);
  expect(await heads.beyond(2, 7, 60_000, stop.signal)).toBe(false);
});

it('takes what was read first for no newer than what is read next', async () => {
  let first = () => {};
  answer = () =>
    new Promise((resolve) => {
      first = resolve;
    });
  const slow = heads.refresh();
  await pass(0);
  answer = async () => {};
  stored = [head(1, 6), head(2, 7)];
  const quick = heads.refresh();
  await pass(100);
  first();
  await Promise.all([slow, quick]);
  expect([heads.newestOf(1), heads.moves]).toEqual([6, 1]);
});

it('fails as the store does, and asks again the next time', async () => {
  answer = () => Promise.reject(new Error('away'));
  await expect(heads.refresh()).rejects.toThrow('away');
  const one = waiting(1, 5);
  await pass(20);
  answer = async () => {};
  stored = [head(1, 6)];
  await pass(1000);
  await pass(20);
  expect(one).toEqual({ moved: true });
});

it('ends with all waits when it is closed, and then asks nothing', async () => {
  const one = waiting(1, 5);
  heads.close();
  await pass(0);
  expect([one, committed, asked]).toEqual([{ moved: false }, undefined, []]);
  expect(vi.getTimerCount()).toBe(0);
  expect(await heads.beyond(1, 5, 60_000)).toBe(false);
});
