import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { raiseSequence } from '../../../../src/server/store/sequences.ts';
import { openSqliteStore } from '../../../../src/server/store/sqlite/store.ts';
import type { Store, Transaction } from '../../../../src/server/store/store.ts';

let folder: string;
let store: Store;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-sequences-'));
  store = await openSqliteStore(folder, { serving: false });
});

afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

const next = (tx: Transaction) => tx.nextId(1, 'PatientV1');
const failing = async (tx: Transaction) => {
  await next(tx);
  throw new Error('no');
};
const stored = () => store.read.all(sql`SELECT org, type, last_id FROM sequences ORDER BY org, type`);

describe('ids of a group of writes', () => {
  it('follow each other, and the last one is on disk with the group', async () => {
    expect(await Promise.all([store.write(next), store.write(next), store.write(next)])).toEqual([1, 2, 3]);
    expect(await stored()).toEqual([{ org: 1, type: 'PatientV1', last_id: 3 }]);
    expect(await store.write(next)).toBe(4);
  });

  it('are those of each organization and type', async () => {
    const works = [next, (tx: Transaction) => tx.nextId(2, 'PatientV1'), (tx: Transaction) => tx.nextId(1, 'Event')];
    expect(await Promise.all(works.map((work) => store.write(work)))).toEqual([1, 1, 1]);
    expect(await store.write(next)).toBe(2);
  });

  it('are given again when the write that took one is undone', async () => {
    const outcomes = await Promise.allSettled([store.write(next), store.write(failing), store.write(next)]);
    expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'undone'))).toEqual([
      1,
      'undone',
      2,
    ]);
    await expect(store.write(failing)).rejects.toThrow('no');
    expect(await store.write(next)).toBe(3);
    expect(await stored()).toEqual([{ org: 1, type: 'PatientV1', last_id: 3 }]);
  });

  it.each([
    { what: 'raises it above them', to: 9, given: [1, 10] },
    { what: 'leaves it below them', to: 1, given: [1, 2] },
  ])('go on after a statement in between that $what', async ({ to, given }) => {
    const ids = await store.write(async (tx) => {
      const first = await next(tx);
      await raiseSequence(tx, 1, 'PatientV1', to);
      return [first, await next(tx)];
    });
    expect(ids).toEqual(given);
    expect(await stored()).toEqual([{ org: 1, type: 'PatientV1', last_id: given[1] }]);
  });
});
