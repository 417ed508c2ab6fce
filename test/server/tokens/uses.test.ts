import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Transaction } from '../../../src/server/store/store.ts';
import { saveUses, TokenUses, type Uses } from '../../../src/server/tokens/uses.ts';
import { TestClock } from '../../support/clock.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTE = 60_000;

/** Uses that are written where nobody can write for a while: while `held`, every attempt fails. */
function open() {
  const clock = new TestClock(100 * MINUTE + 59_999);
  const saved: Uses[] = [];
  const state = { held: false, attempts: 0 };
  const uses = new TokenUses(async (some) => {
    state.attempts++;
    if (state.held) throw new Error('The store is held.');
    saved.push(some);
  }, clock.now);
  return { clock, saved, state, uses };
}

it('uses of a second are written together, each token once a minute', async () => {
  const { clock, saved, uses } = open();
  uses.note('b');
  uses.note('a');
  uses.note('b');
  await vi.advanceTimersByTimeAsync(999);
  expect(saved).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(saved.splice(0)).toEqual([
    [
      ['b', 100],
      ['a', 100],
    ],
  ]);
  uses.note('a');
  await vi.advanceTimersByTimeAsync(5000);
  expect([saved, vi.getTimerCount()]).toEqual([[], 0]);
  clock.advance(1);
  uses.note('a');
  await vi.advanceTimersByTimeAsync(1000);
  expect(saved).toEqual([[['a', 101]]]);
});

it('uses that cannot be written are kept, tried again each second, and the later of a token counts', async () => {
  const { clock, saved, state, uses } = open();
  state.held = true;
  uses.note('a');
  uses.note('b');
  await vi.advanceTimersByTimeAsync(2000);
  expect(state.attempts).toBe(2);
  clock.advance(MINUTE);
  uses.note('a');
  await vi.advanceTimersByTimeAsync(1000);
  state.held = false;
  await vi.advanceTimersByTimeAsync(1000);
  expect(saved.flat().toSorted()).toEqual([
    ['a', 101],
    ['b', 100],
  ]);
  await vi.advanceTimersByTimeAsync(5000);
  expect(state.attempts).toBe(4);
});

it('a use that comes while others fail to be written is the later one', async () => {
  const clock = new TestClock(100 * MINUTE);
  const saved: Uses[] = [];
  let fail = (_error: Error) => {};
  const uses = new TokenUses((some) => {
    saved.push(some);
    return saved.length > 1 ? Promise.resolve() : new Promise((_, reject) => (fail = reject));
  }, clock.now);
  uses.note('a');
  await vi.advanceTimersByTimeAsync(1000);
  clock.advance(MINUTE);
  uses.note('a');
  fail(new Error('The store is held.'));
  await vi.advanceTimersByTimeAsync(0);
  await uses.flush();
  expect(saved.at(-1)).toEqual([['a', 101]]);
});

it('the end writes what is noted, and nothing is written after it; a store that is held keeps nobody from ending', async () => {
  const { saved, state, uses } = open();
  uses.note('a');
  await uses.close();
  expect([saved, vi.getTimerCount()]).toEqual([[[['a', 100]]], 0]);
  state.held = true;
  uses.note('b');
  await uses.close();
  expect([saved.length, vi.getTimerCount()]).toEqual([1, 0]);
});

it('uses are written in one order, whichever came first, so that two servers never wait for each other', async () => {
  const written: unknown[] = [];
  const tx = {
    run: async (query: Parameters<Transaction['run']>[0]) => {
      const [at, id] = query.values;
      written.push([id, at]);
      return 1;
    },
  } as Transaction;
  const store = { write: <T>(work: (tx: Transaction) => Promise<T>) => work(tx) };
  await saveUses(store, [
    ['b', 1],
    ['c', 0],
    ['a', 2],
  ]);
  expect(written).toEqual([
    ['a', '1970-01-01T00:02:00.000Z'],
    ['b', '1970-01-01T00:01:00.000Z'],
    ['c', '1970-01-01T00:00:00.000Z'],
  ]);
});
