import { afterEach, beforeEach, expect, it } from 'vitest';
import { ENTRY_COLUMNS } from '../../../../src/server/store/auditlog.ts';
import { openPostgresStore } from '../../../../src/server/store/postgres/store.ts';
import type { Store } from '../../../../src/server/store/store.ts';
import type { TestDatabase } from '../../../support/postgres.ts';
import { preparedSchema } from '../../../support/preparedschemas.ts';
import { testPostgres } from '../../../support/services.ts';

let database: TestDatabase | undefined;
let stores: Store[] = [];

beforeEach(async () => {
  if ((await testPostgres()) === undefined) return;
  database = await preparedSchema();
  stores = [await openPostgresStore(database.url), await openPostgresStore(database.url)];
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  await database?.drop();
  database = undefined;
});

function both(context: { skip(reason: string): never }): [Store, Store] {
  const [first, second] = stores;
  return first === undefined || second === undefined ? context.skip('needs PostgreSQL') : [first, second];
}

/** Waits until a store hears of others: from then on it keeps numbers. */
async function keeps(store: Store): Promise<Map<string, number>> {
  for (;;) {
    const map = store.countCache();
    if (store.countCache() === map) return map;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const nothing = { sql: '', text: 'SELECT 1', values: [] };

it('numbers are kept while nobody writes, rows of logs and reads aside', async (context) => {
  const [store] = both(context);
  const values = ENTRY_COLUMNS.map(
    (name) => ({ org: 1, at: '2026-01-01T00:00:00.000Z' })[name] ?? (['who', 'operation'].includes(name) ? 'x' : null),
  );
  const isKept = async () => {
    const map = await keeps(store);
    await store.read.get(nothing);
    await store.appendLogs([{ log: 'audit', values }]);
    return store.countCache() === map;
  };
  // Other tests write to other schemas of this database, which tells of that here, too.
  await expect.poll(isKept).toBe(true);
});

it('numbers are dropped by a write of its own, before it is answered', async (context) => {
  const [store] = both(context);
  const map = await keeps(store);
  await store.write((tx) => tx.get(nothing));
  expect(store.countCache()).not.toBe(map);
});

it('numbers are dropped by a write of another process', async (context) => {
  const [store, other] = both(context);
  const map = await keeps(store);
  await other.write((tx) => tx.get(nothing));
  while (store.countCache() === map) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(map.size).toBe(0);
});

it('no numbers are kept where nobody tells of the writes of others, as behind a pooler', async (context) => {
  both(context);
  const store = await openPostgresStore(`${database?.url}&prepare=off`);
  const ordinary = await openPostgresStore(database?.url ?? '');
  stores.push(store, ordinary);
  // By then the other one would hear, too.
  await keeps(ordinary);
  for (let looks = 0; looks < 3; looks++) {
    const map = store.countCache();
    map.set('patients', 1);
    await store.read.get(nothing);
    expect(store.countCache()).not.toBe(map);
    expect(store.countCache().size).toBe(0);
  }
});
