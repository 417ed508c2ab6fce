import { mkdir } from 'node:fs/promises';
import sql from 'sql-template-tag';
import { expect, it } from 'vitest';
import { readCounters, writeCounters } from '../../../src/server/maintenance/copy/counters.ts';
import { contentTables } from '../../../src/server/maintenance/tables.ts';
import { openPostgresStore } from '../../../src/server/store/postgres/store.ts';
import { readSchema } from '../../../src/server/store/schema/introspection.ts';
import { openSqliteStore } from '../../../src/server/store/sqlite/store.ts';
import { preparedTest } from '../../support/preparedschemas.ts';
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

preparedTest('a counter that has given nothing is none: the first number is not skipped', async ({ url }) => {
  const store = await openPostgresStore(url);
  const tables = contentTables(await readSchema(store.read, 'postgres'));
  const counters = async () =>
    (await readCounters(store.read, 'postgres', tables)).filter(({ table }) => table === 'async_deliveries');
  expect(await counters()).toEqual([]);
  await store.write((tx) =>
    tx.run(sql`INSERT INTO async_deliveries (org, correlation_id, operation, after_id, total, created_at)
      VALUES (1, 'c', 'patients.async', 0, 0, 'now')`),
  );
  expect(await counters()).toEqual([{ table: 'async_deliveries', last: 1 }]);
  await store.close();
});
