import sql from 'sql-template-tag';
import { describe, expect } from 'vitest';
import { openPostgresStore } from '../../../../src/server/store/postgres/store.ts';
import type { Store, Transaction } from '../../../../src/server/store/store.ts';
import { onPostgres, type TestDatabase } from '../../../support/postgres.ts';
import { preparedTest } from '../../../support/preparedschemas.ts';

const set = (name: string, value: string) => (tx: Transaction) =>
  tx.run(sql`INSERT INTO settings (name, value) VALUES (${name}, ${value})`);
const names = async (store: Store) =>
  (
    await store.read.all<{ name: string }>(sql`SELECT name FROM settings WHERE name NOT LIKE 'stream_%' ORDER BY name`)
  ).map(({ name }) => name);
const told = (n: number) => ({
  log: 'stream' as const,
  values: [1, 'key', 'now', null, String(n), '', null, n, null],
});
const numbered = (store: Store) =>
  store.read.all<{ seq: number; payload: string }>(sql`SELECT seq, payload FROM stream_messages ORDER BY seq`);

async function withStores(count: number, database: TestDatabase, work: (stores: Store[]) => Promise<void>) {
  const stores: Store[] = [];
  for (let n = 0; n < count; n++) stores.push(await openPostgresStore(database.url));
  const [first] = stores;
  await first?.write((tx) =>
    tx.run(
      sql`INSERT INTO organizations (id, timezone, created_date) VALUES ('one', 'UTC', 'now'), ('two', 'UTC', 'now')`,
    ),
  );
  await work(stores).finally(() => Promise.all(stores.map((store) => store.close())));
}

describe('writes', () => {
  preparedTest('of one turn share a commit; one that throws leaves the others alone', (database) =>
    withStores(1, database, async ([store]) => {
      const before = store?.counts.commits ?? 0;
      const results = await Promise.allSettled([
        store?.write(set('a', '1'), 1),
        store?.write(async (tx) => {
          await set('b', '1')(tx);
          await tx.append(told(1));
          throw new Error('refused');
        }, 1),
        store?.write(async (tx) => {
          await tx.append(told(2));
          return set('c', '1')(tx);
        }, 1),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(store?.counts.commits).toBe(before + 1);
      expect(await names(store as Store)).toEqual(['a', 'c']);
      expect(await numbered(store as Store)).toEqual([{ seq: 1, payload: '2' }]);
    }),
  );

  preparedTest('of one organization run one after another, whichever server they come to', (database) =>
    withStores(2, database, async (stores) => {
      await stores[0]?.write(set('n', '0'));
      const increment = async (tx: Transaction) => {
        const row = await tx.get<{ value: string }>(sql`SELECT value FROM settings WHERE name = 'n'`);
        await tx.run(sql`UPDATE settings SET value = ${String(Number(row?.value) + 1)} WHERE name = 'n'`);
      };
      await Promise.all(Array.from({ length: 200 }, (_, n) => stores[n % 2]?.write(increment, 1)));
      expect(await stores[0]?.read.get(sql`SELECT value FROM settings WHERE name = 'n'`)).toEqual({ value: '200' });
    }),
  );

  preparedTest('that go on after a statement that failed are not taken for done', (database) =>
    withStores(1, database, async ([store]) => {
      const write = store?.write(async (tx) => {
        await set('a', '')(tx);
        await tx.get(sql`SELECT 1 FROM nowhere`).catch(() => {});
      });
      await expect(write).rejects.toThrow('nowhere');
      expect(await names(store as Store)).toEqual([]);
      expect(await store?.write(set('b', ''))).toBe(1);
    }),
  );

  preparedTest('whose statement fails after it was sent harm no other of their group, and say why', (database) =>
    withStores(1, database, async ([store]) => {
      const results = await Promise.allSettled(
        ['a', 'b', 'c', 'd', 'e'].map((name) =>
          store?.write(async (tx) => {
            // Nobody waits for it: the fault is known only when the works after it have begun.
            await tx.queue(name === 'b' ? sql`INSERT INTO nowhere VALUES (1)` : sql`SELECT 1`);
            await set(name, '1')(tx);
            return await tx.nextId(1, 'PatientV1');
          }, 1),
        ),
      );
      expect(results.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'fulfilled',
        'fulfilled',
      ]);
      expect(String((results[1] as PromiseRejectedResult).reason)).toContain('nowhere');
      expect(await names(store as Store)).toEqual(['a', 'c', 'd', 'e']);
    }),
  );

  preparedTest(
    'of a group that only asked and were refused are answered without running the others again',
    (database) =>
      withStores(1, database, async ([store]) => {
        const runs: string[] = [];
        const write = (name: string) =>
          store?.write(async (tx) => {
            runs.push(name);
            const found = await tx.get(sql`SELECT 1 FROM settings WHERE name = 'a'`);
            if (name === 'b') throw new Error(`refused, ${found === undefined ? 'nothing' : 'a'} is there`);
            await set(name, '1')(tx);
          }, 1);
        const [, refused] = await Promise.allSettled([write('a'), write('b'), write('c')]);
        expect(String((refused as PromiseRejectedResult).reason)).toContain('refused, a is there');
        expect(runs).toEqual(['a', 'b', 'c']);
        expect(await names(store as Store)).toEqual(['a', 'c']);
      }),
  );

  preparedTest('get an id once, whichever server they come to and whatever fails beside them', (database) =>
    withStores(2, database, async (stores) => {
      const ids: number[] = [];
      const write = (n: number) =>
        stores[n % 2]?.write(async (tx) => {
          const id = await tx.nextId(1, 'PatientV1');
          await set(`id ${id}`, '')(tx);
          if (n % 7 === 0) throw new Error('refused');
          return id;
        }, 1);
      for (const result of await Promise.allSettled(Array.from({ length: 140 }, (_, n) => write(n)))) {
        if (result.status === 'fulfilled') ids.push(result.value as number);
      }
      expect(ids).toHaveLength(120);
      expect(new Set(ids).size).toBe(120);
      expect(await names(stores[0] as Store)).toEqual(ids.map((id) => `id ${id}`).sort());
    }),
  );

  preparedTest('of several organizations do not wait for each other', (database) =>
    withStores(1, database, async ([store]) => {
      const order: string[] = [];
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const slow = store?.write(async () => {
        await held;
        order.push('one');
      }, 1);
      await store?.write(async () => {
        order.push('two');
      }, 2);
      release();
      await slow;
      expect(order).toEqual(['two', 'one']);
    }),
  );

  preparedTest('that somebody else was faster with are done again, and see what is there', (database) =>
    withStores(2, database, async ([one, other]) => {
      let tries = 0;
      await one?.write(async (tx) => {
        const known = await tx.get(sql`SELECT 1 AS found FROM settings WHERE name = 'x'`);
        if (tries++ === 0) await other?.write(set('x', 'theirs'));
        if (known === undefined) await set('x', 'mine')(tx);
      });
      expect(tries).toBe(2);
      expect(await other?.read.get(sql`SELECT value FROM settings WHERE name = 'x'`)).toEqual({ value: 'theirs' });
    }),
  );

  preparedTest('that wait for each other in a circle are done again', (database) =>
    withStores(2, database, async (stores) => {
      await stores[0]?.write(set('a', ''));
      await stores[0]?.write(set('b', ''));
      let begun = 0;
      let meet = () => {};
      const met = new Promise<void>((resolve) => {
        meet = resolve;
      });
      const both = (first: string, second: string, mark: string) => async (tx: Transaction) => {
        await tx.run(sql`UPDATE settings SET value = value || ${mark} WHERE name = ${first}`);
        if (++begun === 2) meet();
        await met;
        await tx.run(sql`UPDATE settings SET value = value || ${mark} WHERE name = ${second}`);
      };
      await Promise.all([stores[0]?.write(both('a', 'b', '1')), stores[1]?.write(both('b', 'a', '2'))]);
      const rows = await stores[0]?.read.all<{ value: string }>(
        sql`SELECT value FROM settings WHERE LENGTH(name) = 1 ORDER BY name`,
      );
      expect(rows?.map(({ value }) => [...value].sort().join(''))).toEqual(['12', '12']);
    }),
  );

  preparedTest('number the rows of logs without a gap, in the order of commits', (database) =>
    withStores(2, database, async (stores) => {
      const write = (n: number) =>
        stores[n % 2]?.write(
          async (tx) => {
            await tx.append(told(n));
            if (n % 5 === 0) throw new Error('refused');
          },
          1 + (n % 3),
        );
      await Promise.allSettled(Array.from({ length: 100 }, (_, n) => write(n)));
      const rows = await numbered(stores[0] as Store);
      expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 80 }, (_, index) => index + 1));
    }),
  );

  preparedTest('tell those who listen, on this server and on others', (database) =>
    withStores(2, database, async ([one, other]) => {
      const heard: string[] = [];
      one?.onCommit(() => heard.push('own'));
      const far = new Promise<void>((resolve) => other?.onCommit(resolve));
      await one?.write((tx) => tx.append(told(1)));
      expect(heard).toContain('own');
      await far;
    }),
  );
});

describe('a write that fills tables', () => {
  preparedTest('runs by itself, while others go on', (database) =>
    withStores(1, database, async ([store]) => {
      const order: string[] = [];
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const filling = store?.write(async (tx) => {
        const { restore } = await tx.beginBulkLoad(['patients']);
        await held;
        await restore();
        order.push('filled');
      });
      await Promise.all(['a', 'b'].map((name) => store?.write(set(name, ''))));
      order.push('others');
      release();
      await filling;
      expect(order).toEqual(['others', 'filled']);
    }),
  );

  preparedTest('may tell more than memory should hold, in order', (database) =>
    withStores(1, database, async ([store]) => {
      await store?.write((tx) => tx.append(told(0)));
      await store?.write(async (tx) => {
        await tx.beginBulkLoad([]);
        for (let n = 1; n <= 4_321; n++) await tx.append(told(n));
      });
      await store?.write((tx) => tx.append(told(4_322)));
      const rows = await numbered(store as Store);
      expect(rows).toEqual(Array.from({ length: 4_323 }, (_, n) => ({ seq: n + 1, payload: String(n) })));
      expect(await store?.read.get(sql`SELECT seq FROM stream_heads`)).toEqual({ seq: 4_323 });
    }),
  );
});

describe('a store', () => {
  preparedTest('leaves no connection open when it is closed', async (database) => {
    const marked = `${database.url}&application_name=${database.schema}`;
    const store = await openPostgresStore(marked);
    await store.write(set('a', ''));
    await store.close();
    await expect
      .poll(() =>
        onPostgres(async (client) => {
          const { rowCount } = await client.query('SELECT 1 FROM pg_stat_activity WHERE application_name = $1', [
            database.schema,
          ]);
          return rowCount;
        }),
      )
      .toBe(0);
  });
});
