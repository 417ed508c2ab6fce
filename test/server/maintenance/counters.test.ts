import { mkdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { writeCounters } from '../../../src/server/maintenance/copy/counters.ts';
import { openSqliteStore } from '../../../src/server/store/sqlite/store.ts';
import { inDatabase, sharedPractice } from './practices.ts';

const practice = sharedPractice();

it('a copy gives no number again where its source is behind its own rows', async () => {
  const folder = practice.fresh();
  await mkdir(folder);
  const store = await openSqliteStore(folder, { serving: false });
  const last = () => inDatabase(folder, (db) => db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'x'").get());
  for (const [given, after] of [
    [7, 7],
    [5, 7],
    [9, 9],
  ] as const) {
    await store.write((tx) => writeCounters(tx, 'sqlite', [], [{ table: 'x', last: given }]));
    expect(last()).toEqual({ seq: after });
  }
  await store.close();
});
