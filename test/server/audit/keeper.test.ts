import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { appendCheckpoint } from '../../../src/server/audit/checkpoints.ts';
import { auditRow } from '../../../src/server/audit/entries.ts';
import { CheckpointKeeper, type KeeperOptions } from '../../../src/server/audit/keeper.ts';
import { type AuditKey, openAuditKey } from '../../../src/server/audit/keys.ts';
import { readRequest, signNow } from '../../../src/server/audit/signing.ts';
import { openSqliteStore } from '../../../src/server/store/sqlite/store.ts';
import type { Store } from '../../../src/server/store/store.ts';
import { START, TestClock } from '../../support/clock.ts';
import { rawRows, tamper } from '../../support/rawsql.ts';

let folder: string;
let store: Store;
let key: AuditKey;
let clock: TestClock;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-keeper-'));
  store = await openSqliteStore(folder, { serving: false });
  key = await openAuditKey(join(folder, 'audit.key'));
  clock = new TestClock();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await store.close();
  await rm(folder, { recursive: true });
});

const place = () => ({ path: folder, database: undefined });
const reasons = async () =>
  (await rawRows<{ reason: string }>(place(), 'SELECT reason FROM audit_checkpoints ORDER BY number')).map(
    ({ reason }) => reason,
  );

async function write(): Promise<void> {
  const actor = { who: 'token', address: null, requestId: null };
  await store.appendLogs([auditRow({ org: 1, at: clock.text(), actor, operation: 'patients.get' })]);
}

/** A keeper of a store that fails as long as it is told to, and what it could not do. */
function keeping(options: Partial<KeeperOptions> = {}) {
  const faults: string[] = [];
  const failing = { write: false, sequence: false };
  const on = Object.create(store, {
    write: {
      value: (...args: Parameters<Store['write']>) =>
        failing.write ? Promise.reject(new Error('busy')) : store.write(...args),
    },
    sequenceEntries: {
      value: () => (failing.sequence ? Promise.reject(new Error('busy')) : store.sequenceEntries()),
    },
  }) as Store;
  const onFault = (what: string, error: unknown) => void faults.push(`${what} ${(error as Error).message}`);
  return { keeper: new CheckpointKeeper(on, { key, clock: clock.now, onFault, ...options }), faults, failing };
}

/** Lets what is under way be done: nothing of it waits for anything else. */
async function settled(): Promise<void> {
  for (let n = 0; n < 40; n++) await new Promise((resolve) => void setImmediate(resolve));
}

/** Lets the keeper look once, and do what it finds. */
async function look(): Promise<void> {
  vi.advanceTimersByTime(500);
  await settled();
}

describe('a keeper of checkpoints', () => {
  it('writes one at its start, every minute with new entries, and at its stop', async () => {
    const { keeper } = keeping();
    await write();
    await keeper.start();
    expect(await reasons()).toEqual(['start']);
    await write();
    clock.advance(59_999);
    await look();
    expect(await reasons()).toEqual(['start']);
    clock.advance(1);
    await look();
    expect(await reasons()).toEqual(['start', 'minute']);
    await write();
    clock.advance(59_999);
    await look();
    expect(await reasons()).toEqual(['start', 'minute']);
    clock.advance(1);
    await look();
    expect(await reasons()).toEqual(['start', 'minute', 'minute']);
    // Minutes without entries are over, too; what comes then is signed a minute later, and once, as after a sleep.
    clock.advance(600_000);
    await look();
    expect(await reasons()).toHaveLength(3);
    await write();
    clock.advance(30_000);
    await look();
    expect(await reasons()).toHaveLength(3);
    await keeper.close();
    expect(await reasons()).toEqual(['start', 'minute', 'minute', 'stop']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('writes none where nothing is new', async () => {
    await keeping().keeper.start();
    const { keeper } = keeping();
    await keeper.start();
    // It knows of the one that is there: should that vanish, the gap stays.
    expect(keeper.signing('minute').seen?.number).toBe(1);
    await keeper.close();
    expect(await reasons()).toEqual(['start']);
  });

  it('writes none that was never started', async () => {
    await keeping().keeper.close();
    expect(await reasons()).toEqual([]);
  });

  it('looks twice a second', async () => {
    const { keeper } = keeping();
    await keeper.start();
    await write();
    clock.advance(60_000);
    vi.advanceTimersByTime(499);
    await settled();
    expect(await reasons()).toEqual(['start']);
    vi.advanceTimersByTime(1);
    await keeper.close();
    expect(await reasons()).toEqual(['start', 'minute']);
  });

  it('signs entries that another process has left without a number', async () => {
    const { keeper } = keeping();
    await keeper.start();
    await tamper(
      place(),
      "INSERT INTO audit_entries (id, org, at, who, operation, hash) VALUES (-1, 1, 'then', 'x', 'left', '')",
    );
    clock.advance(60_000);
    await look();
    await keeper.close();
    const [left] = await rawRows<{ id: number }>(place(), "SELECT id FROM audit_entries WHERE operation = 'left'");
    expect(left?.id).toBeGreaterThan(0);
    const last = 'SELECT id FROM audit_checkpoints ORDER BY number DESC LIMIT 1';
    expect((await rawRows<{ id: number }>(place(), last))[0]?.id).toBe(left?.id);
  });

  it('writes what a command asks for at once, and once', async () => {
    const { keeper } = keeping();
    await keeper.start();
    await write();
    expect(await signNow(store, { data: join(folder, 'elsewhere') }, 'verify', START)).toBe(false);
    expect(await readRequest(store.read)).toEqual({ last: 1, wanted: true });
    await look();
    expect(await reasons()).toEqual(['start', 'verify']);
    expect(await readRequest(store.read)).toEqual({ last: 2, wanted: false });
    await write();
    await look();
    expect(await reasons()).toEqual(['start', 'verify']);
    await keeper.close();
  });

  it('goes on behind what a command has signed, also when that vanishes', async () => {
    const { keeper } = keeping();
    await keeper.start();
    await write();
    await store.sequenceEntries();
    await store.write((tx) => appendCheckpoint(tx, { key, now: START, reason: 'verify' }));
    await look();
    expect(keeper.signing('minute')).toMatchObject({ reason: 'minute', now: START, key, seen: { number: 2 } });
    await tamper(place(), 'DELETE FROM audit_checkpoints WHERE number = 2');
    await write();
    await keeper.close();
    const rows = await rawRows(place(), 'SELECT number FROM audit_checkpoints ORDER BY number');
    expect(rows).toEqual([{ number: 1 }, { number: 3 }]);
  });

  it('says once what it cannot write, tries again at each look, and says it again when it had been possible meanwhile', async () => {
    const { keeper, faults, failing } = keeping();
    await keeper.start();
    await write();
    clock.advance(60_000);
    failing.write = true;
    await look();
    await look();
    expect([await reasons(), faults]).toEqual([['start'], ['store busy']]);
    failing.write = false;
    await look();
    expect([await reasons(), faults]).toEqual([['start', 'minute'], ['store busy']]);
    failing.write = true;
    await write();
    clock.advance(60_000);
    await look();
    expect(faults).toEqual(['store busy', 'store busy']);
    await keeper.close();
    expect(faults).toEqual(['store busy', 'store busy', 'store busy']);
  });

  it('writes checkpoints also while entries get no numbers, and says that once', async () => {
    const { keeper, faults, failing } = keeping();
    await keeper.start();
    await write();
    clock.advance(60_000);
    failing.sequence = true;
    await look();
    await look();
    expect([await reasons(), faults]).toEqual([['start', 'minute'], ['entries busy']]);
    failing.sequence = false;
    await look();
    failing.sequence = true;
    await look();
    expect(faults).toEqual(['entries busy', 'entries busy']);
    await keeper.close();
  });

  it('says at its start that entries get no numbers, and starts all the same', async () => {
    const { keeper, faults, failing } = keeping();
    failing.sequence = true;
    await keeper.start();
    expect([await reasons(), faults]).toEqual([['start'], ['entries busy']]);
    await keeper.close();
  });

  it('does not start where the first one cannot be written', async () => {
    const { keeper, failing } = keeping();
    failing.write = true;
    await expect(keeper.start()).rejects.toThrow('busy');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('tells what waits, and leaves it to the pauses of shipping when it is tried again', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
    const send = vi.fn(() => Promise.reject(new Error('away')));
    const { keeper, faults } = keeping({ target: { name: 'away', send } });
    await keeper.start();
    const [checkpoints, entries] = keeper.metrics();
    expect([checkpoints, entries]).toMatchObject([
      { name: 'molar_audit_checkpoints_waiting', kind: 'gauge', across: 'max' },
      { name: 'molar_audit_entries_waiting', kind: 'gauge', across: 'max' },
    ]);
    expect([await checkpoints?.read(), await entries?.read()]).toEqual([1, 0]);
    await tamper(
      place(),
      "INSERT INTO audit_entries (id, at, who, operation, hash) VALUES (-1, 'then', 'x', 'x', ''), (-2, 'then', 'x', 'x', '')",
    );
    expect(await entries?.read()).toBe(2);
    await look();
    expect([send.mock.calls.length, faults]).toEqual([1, ['shipping away']]);
    await keeper.close();
    expect(new Set(faults)).toEqual(new Set(['shipping away']));
    const alone = keeping().keeper.metrics();
    expect(await alone[0]?.read()).toBe(0);
  });

  it('ships what it writes, and what is left at its stop', async () => {
    const sent: string[] = [];
    const target = {
      name: 'here',
      send: async (lines: readonly { readonly text: string }[]) =>
        void sent.push(...lines.map(({ text }) => (JSON.parse(text) as { reason: string }).reason)),
    };
    const { keeper } = keeping({ target });
    await keeper.start();
    await settled();
    expect(sent).toEqual(['start']);
    await write();
    await keeper.close();
    expect(sent).toEqual(['start', 'stop']);
  });
});

describe('a restore that was signed with a key of its own', () => {
  it.each<[string, 'restore' | 'minute', 'foreign' | 'own', 'right' | 'wrong' | 'none', string[]]>([
    ['is vouched for by the key of the server', 'restore', 'foreign', 'right', ['restore', 'restore']],
    ['is not where the key in the folder is another', 'restore', 'foreign', 'wrong', ['restore']],
    ['is not where there is no key in the folder', 'restore', 'foreign', 'none', ['restore']],
    ['needs nothing where the key is that of the server', 'restore', 'own', 'right', ['restore']],
    ['is none where it was signed for something else', 'minute', 'foreign', 'right', ['minute']],
  ])('%s', async (_name, reason, signer, folderKey, expected) => {
    const foreign = await openAuditKey(join(folder, 'restored.key'));
    await store.write((tx) => appendCheckpoint(tx, { key: signer === 'own' ? key : foreign, now: START, reason }));
    const known = { right: foreign.own, wrong: (await openAuditKey(join(folder, 'third.key'))).own, none: undefined };
    const { keeper } = keeping({ restoring: signer === 'own' ? key.own : known[folderKey] });
    await keeper.start();
    expect(await reasons()).toEqual(expected);
    await keeper.close();
  });

  it('is not vouched for where its signature does not agree', async () => {
    const foreign = await openAuditKey(join(folder, 'restored.key'));
    await store.write((tx) => appendCheckpoint(tx, { key: foreign, now: START, reason: 'restore' }));
    await tamper(place(), 'UPDATE audit_checkpoints SET entries = 9');
    const { keeper } = keeping({ restoring: foreign.own });
    await keeper.start();
    expect(await reasons()).toEqual(['restore']);
    await keeper.close();
  });
});
