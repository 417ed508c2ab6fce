import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Shipper, shippedToFiles } from '../../../src/server/audit/shipper.ts';
import { ANSWER_MS, type ShippedLine } from '../../../src/server/audit/targets.ts';
import { openSqliteStore } from '../../../src/server/store/sqlite/store.ts';
import type { Store } from '../../../src/server/store/store.ts';
import { rawRows, tamper } from '../../support/rawsql.ts';

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-shipper-'));
  store = await openSqliteStore(folder, { serving: false });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await store.close();
  await rm(folder, { recursive: true });
});

const place = () => ({ path: folder, database: undefined });

/** Stores checkpoints with these numbers. */
function checkpoints(first: number, last: number): Promise<void> {
  const rows = Array.from({ length: last - first + 1 }, (_, n) => {
    const number = first + n;
    return `(${number}, 'at ${number}', ${number}, 'h', ${number}, 'minute', 0, '', 0, 'p', 'k', 's')`;
  });
  const columns =
    'number, at, id, hash, entries, reason, removed_id, removed_hash, removed_checkpoints, previous, key, signature';
  return tamper(place(), `INSERT INTO audit_checkpoints (${columns}) VALUES ${rows.join(', ')}`);
}

/** A shipper to a target that fails while it is told to, or waits. */
function shipping(on: Store = store) {
  const sent: (readonly ShippedLine[])[] = [];
  const faults: string[] = [];
  const state = {
    failing: false,
    failAt: 0,
    attempts: 0,
    wait: undefined as undefined | ((signal: AbortSignal) => Promise<void>),
  };
  const shipper = new Shipper(
    on,
    {
      name: 'a target',
      async send(lines, signal) {
        state.attempts++;
        await state.wait?.(signal);
        if (state.failing || state.attempts === state.failAt) throw new Error('away');
        sent.push(lines);
      },
    },
    (error) => void faults.push(String(error)),
  );
  const numbers = () => sent.flat().map(({ text }) => (JSON.parse(text) as { number: number }).number);
  return { shipper, sent, faults, state, numbers };
}

const upTo = (last: number) => Array.from({ length: last }, (_, n) => n + 1);

/** Lets time pass, and what is due then be done. */
async function pass(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
  for (let n = 0; n < 30; n++) await new Promise((resolve) => void setImmediate(resolve));
}

describe('checkpoints that wait', () => {
  it('are shipped five at a time, each with its time, and the position is in the store', async () => {
    await checkpoints(1, 12);
    const { shipper, sent, numbers, state } = shipping();
    expect(await shipper.waiting()).toBe(12);
    await shipper.ship();
    expect(sent.map(({ length }) => length)).toEqual([5, 5, 2]);
    expect(numbers()).toEqual(upTo(12));
    expect(sent[1]?.[0]?.at).toBe('at 6');
    expect(sent[0]?.[0]?.text).toBe(
      '{"number":1,"at":"at 1","id":1,"hash":"h","entries":1,"reason":"minute","removed":null,"previous":"p","key":"k","signature":"s"}',
    );
    expect(await rawRows(place(), "SELECT * FROM settings WHERE name LIKE 'audit_shipped%'")).toEqual([
      { name: 'audit_shipped a target', value: '12' },
    ]);
    expect(await shipper.waiting()).toBe(0);
    await shipper.ship();
    expect(state.attempts).toBe(3);
    await checkpoints(13, 14);
    expect(await shipper.waiting()).toBe(2);
    await shipper.ship();
    expect(numbers()).toEqual(upTo(14));
    expect(vi.getTimerCount()).toBe(0);
  });

  it('over a page of the store are shipped as well', async () => {
    await checkpoints(1, 1001);
    const { shipper, numbers } = shipping();
    await shipper.ship();
    expect(numbers()).toEqual(upTo(1001));
  });

  it('are all shipped where the last ones fill what is sent together', async () => {
    await checkpoints(1, 10);
    const { shipper, sent } = shipping();
    await shipper.ship();
    expect(sent.map(({ length }) => length)).toEqual([5, 5]);
    expect(await shipper.waiting()).toBe(0);
  });

  it('are shipped again from the first one that may not have arrived', async () => {
    await checkpoints(1, 12);
    const { shipper, numbers, faults, state } = shipping();
    state.failAt = 2;
    await shipper.ship();
    expect([numbers(), faults]).toEqual([upTo(5), ['Error: away']]);
    expect(await shipper.waiting()).toBe(7);
    await pass(1000);
    expect(numbers()).toEqual(upTo(12));
  });

  it('are tried again after longer and longer pauses, up to a minute, and after one second again once all went well', async () => {
    await checkpoints(1, 1);
    const { shipper, faults, state, numbers } = shipping();
    state.failing = true;
    await shipper.ship();
    for (const pause of [1, 2, 4, 8, 16, 32, 60, 60]) {
      const before = faults.length;
      await pass(pause * 1000 - 1);
      expect(faults).toHaveLength(before);
      await pass(1);
      expect(faults).toHaveLength(before + 1);
    }
    state.failing = false;
    await pass(60_000);
    expect(numbers()).toEqual([1]);
    await checkpoints(2, 2);
    state.failing = true;
    await shipper.ship();
    state.failing = false;
    await pass(1000);
    expect(numbers()).toEqual([1, 2]);
  });

  it('are tried at once when others come, and not again when the pause is over', async () => {
    await checkpoints(1, 1);
    const { shipper, faults, state, numbers } = shipping();
    state.failing = true;
    await shipper.ship();
    state.failing = false;
    await shipper.ship();
    expect([numbers(), faults]).toEqual([[1], ['Error: away']]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are shipped by one run at a time', async () => {
    await checkpoints(1, 1);
    const { shipper, numbers } = shipping();
    await Promise.all([shipper.ship(), shipper.ship(), shipper.ship()]);
    expect(numbers()).toEqual([1]);
  });

  describe('of several servers', () => {
    const LEASE = { name: 'shipping a target' };
    const asked: { readonly text: string; readonly values: readonly unknown[] }[] = [];
    /** What the database says to the request for the lease with this number, from 1: undefined while it is another's. */
    function shared(granted: (time: number) => Promise<object | undefined>): Store {
      asked.length = 0;
      const get = (statement: (typeof asked)[number]) => granted(asked.push(statement));
      return Object.create(store, { shared: { value: { get } } }) as Store;
    }

    it('are left to another one that ships them, and whose place is free again at a stop', async () => {
      await checkpoints(1, 1);
      let row: object | undefined;
      const { shipper, numbers, faults } = shipping(shared(async () => row));
      await shipper.ship();
      expect([numbers(), faults]).toEqual([[], []]);
      row = LEASE;
      await shipper.ship();
      expect(numbers()).toEqual([1]);
      await shipper.close();
      expect(asked.at(-1)?.text).toMatch(/^DELETE FROM leases/);
    });

    it('are not shipped by two, however long a receiver takes', async () => {
      await checkpoints(1, 12);
      // It is another's when the second batch begins.
      const { shipper, numbers, faults } = shipping(shared(async (time) => (time === 3 ? undefined : LEASE)));
      await shipper.ship();
      expect([numbers(), faults]).toEqual([upTo(5), []]);
      // A receiver has ten seconds for each of a batch.
      const [minute] = asked.map(({ values }) => values.find((value) => typeof value === 'number'));
      expect(minute).toBeGreaterThan(5 * ANSWER_MS);
    });

    it('are shipped from where the one before came to in the last moment', async () => {
      await checkpoints(1, 3);
      const moved = "INSERT INTO settings (name, value) VALUES ('audit_shipped a target', '2')";
      const { shipper, numbers } = shipping(
        shared(async (time) => {
          if (time === 1) await tamper(place(), moved);
          return LEASE;
        }),
      );
      await shipper.ship();
      expect(numbers()).toEqual([3]);
    });
  });
});

describe('a stop', () => {
  it('ships what is left, and plans nothing more when it is asked once more and fails', async () => {
    await checkpoints(1, 1);
    const { shipper, numbers, state, faults } = shipping();
    await shipper.close();
    expect(numbers()).toEqual([1]);
    await checkpoints(2, 2);
    state.failing = true;
    await shipper.ship();
    expect(faults).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('makes no further attempt when the last one fails', async () => {
    await checkpoints(1, 1);
    const { shipper, state, faults } = shipping();
    state.failing = true;
    await shipper.close();
    expect([state.attempts, faults.length]).toEqual([1, 1]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits for a run in progress and tries once more', async () => {
    await checkpoints(1, 1);
    const { shipper, state, numbers } = shipping();
    state.failAt = 1;
    void shipper.ship();
    await shipper.close();
    expect([state.attempts, numbers()]).toEqual([2, [1]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits three seconds for a receiver that says nothing, and tries no more', async () => {
    await checkpoints(1, 200);
    const { shipper, state, faults } = shipping();
    state.wait = (signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('ended')));
      });
    void shipper.ship();
    let isClosed = false;
    const closed = shipper.close().then(() => {
      isClosed = true;
    });
    await pass(2999);
    expect(isClosed).toBe(false);
    await pass(1);
    await closed;
    expect([state.attempts, faults]).toEqual([1, ['Error: ended']]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('sends no further batch once its time is over', async () => {
    await checkpoints(1, 10);
    const { shipper, state, numbers } = shipping();
    state.wait = (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    void shipper.ship();
    const closed = shipper.close();
    await pass(3000);
    await closed;
    expect([state.attempts, numbers()]).toEqual([1, upTo(5)]);
  });
});

it('files have what the one with the most has', async () => {
  expect(await shippedToFiles(store.read, 'file:')).toBeUndefined();
  const set = (name: string, value: number) =>
    tamper(place(), `INSERT INTO settings (name, value) VALUES ('${name}', '${value}')`);
  await set('audit_shipped https://example.org 0123', 99);
  expect(await shippedToFiles(store.read, 'file:')).toBeUndefined();
  await set('audit_shipped file:here:/a', 9);
  await set('audit_shipped file:here:/b', 10);
  await set('audit_shipped file:there:/a', 8);
  expect(await shippedToFiles(store.read, 'file:')).toBe(10);
});
