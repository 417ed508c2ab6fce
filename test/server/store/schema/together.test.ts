import { setTimeout as sleep } from 'node:timers/promises';
import sql from 'sql-template-tag';
import { describe, expect } from 'vitest';
import { patients } from '../../../../src/catalog/resources/patients.ts';
import { tryLockOrganization } from '../../../../src/server/store/schema/backfill.ts';
import { lockOrganizations, lockTables } from '../../../../src/server/store/schema/locks.ts';
import { SCHEMA, type Schema, schemaOf } from '../../../../src/server/store/schema/schema.ts';
import { lockBackfill, lockGoal, writeBackfill } from '../../../../src/server/store/schema/state.ts';
import { upgrade } from '../../../../src/server/store/schema/upgrade.ts';
import { type Store, StoreUnusable, type Transaction } from '../../../../src/server/store/store.ts';
import { onPostgres, postgresTest } from '../../../support/postgres.ts';
import {
  expectFiltersToFind,
  found,
  type Home,
  makeOlder,
  OLDER,
  OLDER_PATIENTS,
  olderPatient,
  onBothStores,
  postgresHome,
  ROWS,
} from './olderpractice.ts';

/** Brings a practice to a schema; `before` is called with the number of each transaction, from 1 on. */
function bring(home: Home, store: Store, schema: Schema, before: (transaction: number) => Promise<unknown>) {
  let transaction = 0;
  return upgrade({
    dialect: home.dialect,
    schema,
    pageRows: 5,
    transact: async (work) => {
      await before(++transaction);
      return store.write(work);
    },
  });
}

describe('an upgrade among others', () => {
  onBothStores('counts rows once the tables are no longer locked', async (home) => {
    await makeOlder(home);
    const store = await home.open({ schema: OLDER });
    const totals: unknown[] = [];
    await bring(home, store, schemaOf([patients]), async () => {
      totals.push(...(await store.read.all(sql`SELECT total FROM schema_backfills`)));
    });
    // After the first transaction, and after the one that counts.
    expect(totals.slice(0, 2)).toEqual([{ total: 0 }, { total: ROWS + 3 }]);
    await store.close();
  });

  postgresTest('keeps others from what it decides, fills and compares', async ({ url }) => {
    const home = postgresHome(url);
    await makeOlder(home);
    const store = await home.open({ schema: OLDER });
    const table = 'patients';
    await store.write((tx) => writeBackfill(tx, { table_name: table, goal: '', org: 0, id: 0, done: 0, total: ROWS }));
    /** The code of what somebody else is told who asks for the same meanwhile; undefined where that is free. */
    const meanwhile = (asked: string, work: (tx: Transaction) => Promise<unknown>) =>
      store.write(async (tx) => {
        await work(tx);
        return onPostgres((client) => client.query(`BEGIN; ${asked} NOWAIT; ROLLBACK`), url).then(
          () => undefined,
          ({ code }: { code: string }) => code,
        );
      });
    const nothing = async () => {};
    for (const [asked, lock] of [
      ['SELECT 1 FROM schema_state FOR UPDATE', (tx) => lockGoal(tx, 'postgres')],
      ['SELECT 1 FROM schema_backfills FOR UPDATE', (tx) => lockBackfill(tx, table, 'postgres')],
      ['SELECT 1 FROM organizations FOR UPDATE', (tx) => lockOrganizations(tx, 'postgres')],
      ['SELECT 1 FROM organizations WHERE org = 1 FOR UPDATE', (tx) => tryLockOrganization(tx, 1)],
      // As whoever writes to it does.
      [`LOCK TABLE ${table} IN ROW EXCLUSIVE MODE`, (tx) => lockTables(tx, [table])],
    ] satisfies [string, (tx: Transaction) => Promise<unknown>][]) {
      expect([asked, await meanwhile(asked, nothing), await meanwhile(asked, lock)]).toEqual([
        asked,
        undefined,
        '55P03',
      ]);
    }
    await store.close();
  });

  postgresTest('is begun by one server at a time', async ({ url }) => {
    const home = postgresHome(url);
    await onPostgres(async (client) => {
      const lock = "hashtext('molar ' || current_schema())";
      await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${lock})`);
      let isOpen = false;
      const opening = home.open().then((store) => {
        isOpen = true;
        return store;
      });
      const waiting = `SELECT 1 FROM pg_locks
        WHERE locktype = 'advisory' AND NOT granted AND objid = ${lock}::bigint & 4294967295`;
      await expect.poll(async () => isOpen || (await client.query(waiting)).rowCount === 1).toBe(true);
      expect(isOpen).toBe(false);
      await client.query('COMMIT');
      await (await opening).close();
    }, url);
  });

  postgresTest('does not wait for a server that waits for it', async ({ url }) => {
    const home = postgresHome(url);
    await makeOlder(home);
    const store = await home.open({ schema: OLDER });
    const written = JSON.stringify({ ...olderPatient(2), lastName: 'Changed' });
    // A server that writes: it has the organization's row when the upgrade begins a transaction, and the others after it.
    const locking = 'BEGIN; SELECT org FROM organizations WHERE org = 1 FOR UPDATE';
    const writing = `UPDATE patients SET json = '${written}' WHERE org = 1 AND id = 2;
      INSERT INTO stream_heads (org, seq, shared) VALUES (1, 1, 0) ON CONFLICT (org) DO UPDATE SET seq = stream_heads.seq + 1; COMMIT`;
    let [transactions, attempts] = [0, 0];
    await onPostgres(async (client) => {
      await upgrade({
        dialect: 'postgres',
        schema: schemaOf([patients]),
        transact: async (work) => {
          transactions++;
          await client.query(locking);
          const done = store.write((tx) => {
            attempts++;
            return work(tx);
          });
          await sleep(100);
          await client.query(writing);
          return done;
        },
      });
    }, url);
    // A deadlock would have ended one of the two, and the work would have run again.
    expect(attempts).toBe(transactions);
    expect(await found(store, 'lastName==Changed')).toEqual([2]);
    await store.close();
  });
});

/** Between an earlier molar and this one: it has the fields of patients, and not what they are found by. */
const BETWEEN = schemaOf([{ ...patients, filters: OLDER_PATIENTS.filters }]);

describe('two versions that upgrade together', () => {
  for (const [when, transactions] of [
    ['in its pages', 4],
    ['at its end', Number.POSITIVE_INFINITY],
  ] as const) {
    onBothStores(`leave the later one to finish when it begins while the other is ${when}`, async (home) => {
      await makeOlder(home);
      const store = await home.open({ schema: OLDER });
      let all = 0;
      await bring(home, store, BETWEEN, async (transaction) => {
        all = transaction;
      });
      // On PostgreSQL those follow that finish it.
      if (home.dialect === 'postgres') all -= 2;
      await (await home.open({ schema: OLDER })).close();
      let later: Promise<void> | undefined;
      const overtaken = new Promise<unknown>((resolve) => {
        const begun = new Promise<void>((goOn) => {
          const first = bring(home, store, BETWEEN, async (transaction) => {
            if (transaction !== Math.min(all, transactions)) return;
            later = bring(home, store, SCHEMA, async (each) => {
              if (each !== 2) return;
              goOn();
              await overtaken;
            });
            await begun;
          });
          first.then(() => resolve(undefined), resolve);
        });
      });
      const fault = await overtaken;
      expect(fault).toBeInstanceOf(StoreUnusable);
      expect((fault as StoreUnusable).message).toBe(
        'Another version of molar is bringing the database to its version.',
      );
      await later;
      await store.close();
      const after = await home.open();
      await expectFiltersToFind(after);
      await after.close();
    });
  }
});
