import { createHash, verify } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  appendCheckpoint,
  type Checkpoint,
  checkpointLine,
  checkpointPages,
  isSigned,
  lastCheckpoint,
  restoreCheckpoints,
  type Signing,
  signedRemoval,
} from '../../../src/server/audit/checkpoints.ts';
import { auditRow } from '../../../src/server/audit/entries.ts';
import { type AuditKey, openAuditKey } from '../../../src/server/audit/keys.ts';
import { openSqliteStore } from '../../../src/server/store/sqlite/store.ts';
import type { Store } from '../../../src/server/store/store.ts';
import { START } from '../../support/clock.ts';
import { rawRows, tamper } from '../../support/rawsql.ts';

let folder: string;
let store: Store;
let key: AuditKey;
let other: AuditKey;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-checkpoints-'));
  store = await openSqliteStore(folder, { serving: false });
  key = await openAuditKey(join(folder, 'audit.key'));
  other = await openAuditKey(join(folder, 'other.key'));
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

const sql = (...statements: string[]) => tamper({ path: folder, database: undefined }, ...statements);
const stored = () =>
  rawRows<{ number: number; removed_id: number; key: string }>(
    { path: folder, database: undefined },
    'SELECT * FROM audit_checkpoints ORDER BY number',
  );
const numbers = async () => (await stored()).map(({ number }) => number);

/** Writes so many entries, and answers the last one. */
async function write(count = 1) {
  const actor = { who: 'token', address: null, requestId: null };
  const entry = { org: 1, at: new Date(START).toISOString(), actor, operation: 'patients.get' };
  await store.appendLogs(Array.from({ length: count }, () => auditRow(entry)));
  await store.sequenceEntries();
  return entryAt(Number.MAX_SAFE_INTEGER);
}

async function entryAt(id: number): Promise<{ id: number; hash: string }> {
  const query = `SELECT id, hash FROM audit_entries WHERE id <= ${id} ORDER BY id DESC LIMIT 1`;
  const [row] = await rawRows<{ id: number; hash: string }>({ path: folder, database: undefined }, query);
  return { id: row?.id ?? 0, hash: row?.hash ?? '' };
}

const append = (signing: Partial<Signing> = {}) =>
  store.write((tx) => appendCheckpoint(tx, { key, now: START, reason: 'minute', ...signing }));

/** A checkpoint of which the test knows that there is one. */
const made = async (signing: Partial<Signing> = {}) => (await append(signing)) as Checkpoint;

const digest = (checkpoint: Checkpoint | undefined) =>
  createHash('sha256')
    .update(checkpointLine(checkpoint as Checkpoint))
    .digest('hex');

describe('a checkpoint', () => {
  it('of an empty log says so, and the next one is of its entries', async () => {
    const first = await made({ reason: 'start' });
    expect(first).toMatchObject({ number: 1, id: 0, hash: '', entries: 0, removed: null, previous: '', key: key.id });
    expect(first).toMatchObject({ at: '2026-03-02T12:00:00.000Z', reason: 'start' });
    const end = await write(3);
    const second = await made({ now: START + 1 });
    expect(second).toMatchObject({ number: 2, ...end, entries: 3, previous: digest(first) });
    expect(second.at).toBe('2026-03-02T12:00:00.001Z');
    expect(await lastCheckpoint(store.read)).toEqual(second);
    expect(await numbers()).toEqual([1, 2]);
  });

  it('is signed over its line without the signature', async () => {
    await write(1);
    const { signature, ...rest } = await made();
    const [half] = [...key.own.values()];
    const signed = Buffer.from(JSON.stringify(rest));
    expect(verify(null, signed, half ?? '', Buffer.from(signature, 'base64'))).toBe(true);
    expect(JSON.stringify({ ...rest, signature })).toBe(checkpointLine({ signature, ...rest }));
  });

  it('is not written where there is nothing new, unless a restore asks for it', async () => {
    await write(1);
    await made();
    expect(await append()).toBeUndefined();
    expect(await append({ reason: 'stop' })).toBeUndefined();
    expect(await numbers()).toEqual([1]);
    expect(await append({ reason: 'restore' })).toMatchObject({ number: 2, reason: 'restore' });
    await write(1);
    expect(await append()).toMatchObject({ number: 3 });
  });

  it('is written where the log ends with another entry of the same number', async () => {
    await write(1);
    await made();
    await sql("UPDATE log_heads SET hash = 'other' WHERE name = 'audit'");
    expect(await append()).toMatchObject({ number: 2, hash: 'other' });
  });

  it('goes on from the last one that is known, be it in the store or not', async () => {
    await write(1);
    const first = await made();
    await write(1);
    const second = await made();
    await sql('DELETE FROM audit_checkpoints WHERE number = 2');
    await write(1);
    expect(await append({ seen: second })).toMatchObject({ number: 3, previous: digest(second) });
    await write(1);
    const last = await lastCheckpoint(store.read);
    expect(await append({ seen: first })).toMatchObject({ number: 4, previous: digest(last) });
    // The one that is stored counts where both have the same number.
    await write(1);
    const again = await lastCheckpoint(store.read);
    expect(await append({ seen: { ...first, number: 4 } })).toMatchObject({ number: 5, previous: digest(again) });
  });

  it('is not written where what is known has the same end', async () => {
    await write(1);
    const first = await made();
    await sql('DELETE FROM audit_checkpoints');
    expect(await append({ seen: first })).toBeUndefined();
  });

  it('needs a log', async () => {
    await sql("DELETE FROM log_heads WHERE name = 'audit'");
    await expect(append()).rejects.toThrow('has no head');
  });

  it('is genuine with its key and as it was written alone', async () => {
    await write(2);
    const removing = await entryAt(1);
    const checkpoint = await made({ removing, reason: 'retention' });
    const removed = checkpoint.removed as NonNullable<Checkpoint['removed']>;
    expect(isSigned(checkpoint, key.own)).toBe(true);
    expect(isSigned(checkpoint, other.own)).toBeUndefined();
    expect(isSigned(checkpoint, new Map([...other.own, ...key.own]))).toBe(true);
    const changes: Partial<Checkpoint>[] = [
      ...[{ number: 9 }, { at: '' }, { id: 9 }, { hash: '' }, { entries: 9 }, { reason: 'start' as const }],
      ...[{ removed: null }, { removed: { ...removed, id: 2 } }, { removed: { ...removed, hash: '' } }],
      ...[{ removed: { ...removed, checkpoints: 7 } }, { previous: 'x' }, { signature: '' }],
    ];
    for (const change of changes)
      expect([change, isSigned({ ...checkpoint, ...change }, key.own)]).toEqual([change, false]);
    const [half] = [...other.own.values()];
    expect(isSigned(checkpoint, new Map(half && [[key.id, half]]))).toBe(false);
  });
});

describe('what is removed', () => {
  /** Four entries, a checkpoint after each. */
  async function four(): Promise<void> {
    for (let n = 0; n < 4; n++) {
      await write(1);
      await made();
    }
  }
  const remove = async (id: number, more: Partial<Signing> = {}) =>
    made({ removing: await entryAt(id), reason: 'retention', ...more });

  it('stands in the checkpoint, with those about entries before it, which go', async () => {
    await four();
    const end = await entryAt(3);
    const checkpoint = await remove(3);
    expect(checkpoint).toMatchObject({ number: 5, id: 4, entries: 1, removed: { ...end, checkpoints: 2 } });
    expect(await numbers()).toEqual([3, 4, 5]);
    expect(await lastCheckpoint(store.read)).toEqual(checkpoint);
  });

  it('stands in those that follow', async () => {
    await four();
    const { removed } = await remove(2);
    await write(2);
    expect(await append()).toMatchObject({ number: 6, id: 6, entries: 4, removed });
    await write(1);
    expect(await append()).toMatchObject({ removed });
  });

  it('keeps checkpoints that are still to be shipped to one of the targets', async () => {
    await four();
    await sql("INSERT INTO settings (name, value) VALUES ('audit_shipped a', '3'), ('audit_shipped b', '1')");
    expect((await remove(4)).removed).toMatchObject({ checkpoints: 1 });
    expect(await numbers()).toEqual([2, 3, 4, 5]);
  });

  it('keeps checkpoints from the first one on that is not genuine', async () => {
    await four();
    await sql('UPDATE audit_checkpoints SET entries = 9 WHERE number = 2');
    expect((await remove(4)).removed).toMatchObject({ checkpoints: 1 });
    expect(await numbers()).toEqual([2, 3, 4, 5]);
  });

  it('has what was removed before, also where no further checkpoint goes', async () => {
    await write(1);
    await made();
    await write(3);
    await made();
    expect((await remove(2)).removed).toMatchObject({ id: 2, checkpoints: 1 });
    expect((await remove(3)).removed).toMatchObject({ id: 3, checkpoints: 1 });
    await sql("INSERT INTO settings (name, value) VALUES ('audit_shipped late', '0')");
    await write(1);
    expect((await remove(5)).removed).toMatchObject({ id: 5, checkpoints: 1 });
    expect(await numbers()).toEqual([2, 3, 4, 5]);
  });

  it('keeps all where the first one is about the last that goes', async () => {
    await four();
    expect((await remove(1)).removed).toMatchObject({ id: 1, checkpoints: 0 });
    expect(await numbers()).toEqual([1, 2, 3, 4, 5]);
  });

  it('is taken over from nothing that was not signed with the own key, unless by a restore', async () => {
    await four();
    const { removed } = await remove(2);
    await sql(`UPDATE audit_checkpoints SET removed_id = 3, removed_hash = 'x' WHERE number = 5`);
    await write(1);
    expect(await append()).toMatchObject({ number: 6, removed: null });
    await sql(`UPDATE audit_checkpoints SET removed_id = 2, removed_hash = '${removed?.hash}' WHERE number = 5`);
    await sql('UPDATE audit_checkpoints SET entries = 99 WHERE number = 6');
    await write(1);
    expect(await append()).toMatchObject({ number: 7, removed });
    await sql(`UPDATE audit_checkpoints SET removed_id = 3, removed_hash = 'x' WHERE number = 7`);
    expect(await append({ reason: 'restore' })).toMatchObject({ removed: { id: 3, hash: 'x' } });
  });

  it('of another server counts where its key is known, up to the last one that is signed with the own key', async () => {
    await four();
    const first = await remove(2);
    const both = { ...other, own: new Map([...other.own, ...key.own]) };
    for (const own of [key.own, both.own]) {
      await write(1);
      await made({ key: other });
      await write(1);
      // The other one has no key of before: it says nothing of what was removed.
      expect((await stored()).at(-1)).toMatchObject({ removed_id: 0, key: other.id });
      expect(await append({ key: { ...key, own } })).toMatchObject({ key: key.id, removed: first.removed });
    }
    await write(1);
    expect(await append({ key: both })).toMatchObject({ removed: first.removed });
    expect(await signedRemoval(store.read, other.own)).toEqual(first.removed);
    expect(await signedRemoval(store.read, new Map())).toBeNull();
    expect(await signedRemoval(store.read, undefined)).toEqual(first.removed);
  });

  it('is the most that any checkpoint says', async () => {
    await four();
    const later = await remove(3);
    await write(1);
    await made();
    await sql('UPDATE audit_checkpoints SET removed_id = 2 WHERE number = 6');
    expect(await signedRemoval(store.read, undefined)).toEqual(later.removed);
    expect(await signedRemoval(store.read, undefined, ({ number }) => number === 6)).toMatchObject({ id: 2 });
    expect(await signedRemoval(store.read, key.own, ({ number }) => number === 6)).toEqual(later.removed);
    expect(await signedRemoval(store.read, key.own, ({ number }) => number === 4)).toEqual(later.removed);
  });
});

describe('many checkpoints', () => {
  const fill = (count: number, reason = 'minute') => {
    const rows = Array.from({ length: count }, (_, n) => `(${n + 1}, '', 1, '', 1, '${reason}', 0, '', 0, '', '', '')`);
    return sql(`INSERT INTO audit_checkpoints (number, at, id, hash, entries, reason, removed_id, removed_hash,
      removed_checkpoints, previous, key, signature) VALUES ${rows.join(', ')}`);
  };
  const pages = async (options: Parameters<typeof checkpointPages>[1]) => {
    const read: number[][] = [];
    for await (const page of checkpointPages(store.read, options)) read.push(page.map(({ number }) => number));
    return read;
  };
  const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n);

  it('are read a thousand at a time, in both directions', async () => {
    await fill(2500);
    expect(await pages({})).toEqual([from(1, 1000), from(1001, 2000), from(2001, 2500)]);
    expect(await pages({ backwards: true })).toEqual(
      [from(1501, 2500), from(501, 1500), from(1, 500)].map((page) => page.reverse()),
    );
    expect(await pages({ after: 3, upTo: 5 })).toEqual([[4, 5]]);
    expect(await pages({ after: 3, upTo: 5, backwards: true })).toEqual([[5, 4]]);
    expect(await pages({ after: 2500 })).toEqual([]);
    expect(await pages({ after: 1500 })).toEqual([from(1501, 2500)]);
  });

  it('of restores are read newest first', async () => {
    await fill(3, 'restore');
    await sql("UPDATE audit_checkpoints SET reason = 'minute' WHERE number = 2");
    expect((await restoreCheckpoints(store.read)).map(({ number }) => number)).toEqual([3, 1]);
  });
});
