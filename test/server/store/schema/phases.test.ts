import sql, { raw } from 'sql-template-tag';
import { describe, expect } from 'vitest';
import { patients } from '../../../../src/catalog/resources/patients.ts';
import { blankRecord } from '../../../../src/server/rendering.ts';
import { layoutOf } from '../../../../src/server/store/layout.ts';
import { openPostgresStore } from '../../../../src/server/store/postgres/store.ts';
import { putRecord, removeRecord } from '../../../../src/server/store/records.ts';
import { readSchema } from '../../../../src/server/store/schema/introspection.ts';
import { type Schema, schemaOf } from '../../../../src/server/store/schema/schema.ts';
import type { Store } from '../../../../src/server/store/store.ts';
import { onPostgres, postgresTest } from '../../../support/postgres.ts';
import {
  expectFiltersToFind,
  found,
  makeOlder,
  OLDER,
  OLDER_PATIENTS,
  olderPatient,
  postgresHome,
} from './olderpractice.ts';

/** What molar has noted of upgrades, and by what. */
async function notes({ read }: Store) {
  const triggers = await read.all<{ name: string }>(
    sql`SELECT DISTINCT tgrelid::regclass::text AS name FROM pg_trigger WHERE tgname = 'note_repair'
      AND tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)`,
  );
  const repairs = await read.all(sql`SELECT * FROM schema_repairs`);
  const left = await read.all(sql`SELECT name FROM schema_state WHERE name = 'unfinished' OR name LIKE 'serves %'`);
  return { triggers: triggers.map(({ name }) => name.replace(/.*\./, '')), repairs: repairs.length, left: left.length };
}

/** Compares every patient with what a write of its record would have stored, in columns, side tables and fields. */
async function expectWholeRows({ read }: Store): Promise<void> {
  const { columns, sides } = layoutOf(patients);
  const rows = await read.all<{ org: number; id: number; json: string }>(sql`SELECT * FROM patients ORDER BY org, id`);
  for (const row of rows) {
    const record = JSON.parse(row.json);
    expect(Object.keys(record), `patient ${row.id}`).toEqual(
      expect.arrayContaining(Object.keys(blankRecord(patients))),
    );
    for (const { name, of } of columns)
      expect(Reflect.get(row, name), `${name} of ${row.id}`).toBe(of?.(record) ?? null);
  }
  for (const { table, of } of sides) {
    const expected = rows.flatMap(({ org, id, json }) => of(JSON.parse(json)).map((value) => ({ org, id, value })));
    const stored = await read.all<object>(sql`SELECT org, id, value FROM ${raw(table)}`);
    expect(new Set(stored.map((row) => JSON.stringify(row)))).toEqual(
      new Set(expected.map((row) => JSON.stringify(row))),
    );
  }
}

describe('an older server beside a newer one', () => {
  postgresTest('goes on, and what it writes is found by what was added', async ({ url }) => {
    const home = postgresHome(url);
    await makeOlder(home);
    const older = await openPostgresStore(url, { schema: OLDER });
    const newer = await openPostgresStore(url);
    await newer.ping();
    await older.ping();
    await expectFiltersToFind(newer);
    const name = async (id: number, lastName: string) =>
      older.write((tx) => putRecord(tx, 1, OLDER_PATIENTS, { ...olderPatient(id), lastName }), 1);
    await name(2, 'Changed');
    await name(100, 'Added');
    await older.write((tx) => removeRecord(tx, 1, OLDER_PATIENTS, 3), 1);
    await expect.poll(() => notes(newer)).toMatchObject({ repairs: 0 });
    expect(await found(newer, 'lastName==Changed')).toEqual([2]);
    expect(await found(newer, 'lastName==Added')).toEqual([100]);
    expect(await found(newer, 'phones.number==3035550011')).toEqual([11]);
    await expectWholeRows(newer);

    // It can be started again, and changes nothing.
    await older.close();
    const again = await openPostgresStore(url, { schema: OLDER });
    await again.ping();
    await newer.ping();
    expect(await notes(newer)).toEqual({ triggers: ['patients'], repairs: 0, left: 2 });
    await again.close();
    await newer.close();

    // When it has not been seen for long enough, the next start finishes the upgrade.
    const last = await home.open();
    expect(await notes(last)).toEqual({ triggers: [], repairs: 0, left: 0 });
    await last.close();
  });

  postgresTest('is not ready any more once the upgrade is finished', async ({ url }) => {
    const home = postgresHome(url);
    await makeOlder(home);
    const older = await openPostgresStore(url, { schema: OLDER });
    const newer = await openPostgresStore(url);
    await older.ping();
    await (await home.open()).close();
    await expect(older.ping()).rejects.toThrow('were brought to another version');
    await newer.ping();
    for (const store of [older, newer]) await store.close();
  });

  postgresTest(
    'is not ready from the start on where the new one does without something that it uses',
    async ({ url }) => {
      const home = postgresHome(url);
      await (await home.open()).close();
      const older = await openPostgresStore(url);
      const newer = await openPostgresStore(url, { schema: OLDER });
      await expect(older.ping()).rejects.toThrow('were brought to another version');
      await newer.ping();
      for (const store of [older, newer]) await store.close();
    },
  );

  postgresTest('keeps nobody waiting for an organization that it has in hand', async ({ url }) => {
    const home = postgresHome(url);
    await makeOlder(home);
    const older = await openPostgresStore(url, { schema: OLDER });
    const newer = await openPostgresStore(url);
    const notedOf = () => newer.read.all(sql`SELECT org, id FROM schema_repairs ORDER BY org, id`);
    await onPostgres(async (client) => {
      await client.query('BEGIN; SELECT org FROM organizations WHERE org = 1 FOR UPDATE');
      await onPostgres((other) => other.query('UPDATE patients SET json = json WHERE id = 2'), url);
      await expect.poll(notedOf).toEqual([{ org: 1, id: 2 }]);
      await (await openPostgresStore(url)).close();
      expect(await notedOf()).toEqual([{ org: 1, id: 2 }]);
      await client.query('COMMIT');
    }, url);
    await expect.poll(notedOf).toEqual([]);
    for (const store of [older, newer]) await store.close();
  });

  postgresTest('and two newer ones write at once, and every row is whole in the end', async ({ url }) => {
    const home = postgresHome(url);
    await makeOlder(home);
    const older = await openPostgresStore(url, { schema: OLDER });
    const newer = await Promise.all([openPostgresStore(url), openPostgresStore(url)]);
    const writers = [
      ...Array.from({ length: 4 }, () => [older, OLDER_PATIENTS] as const),
      ...newer.map((store) => [store, patients] as const),
    ];
    let state = 7;
    const random = (below: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    const write = async ([store, resource]: (typeof writers)[number]) => {
      for (let times = 0; times < 40; times++) {
        const [id, org, other, isRemoved] = [1 + random(30), 1 + random(2), 1 + random(30), random(5) === 0];
        await store.write(async (tx) => {
          if (isRemoved) return removeRecord(tx, org, resource, id);
          const blank = blankRecord(resource) as Record<string, unknown>;
          return putRecord(tx, org, resource, { ...blank, ...olderPatient(other), id });
        }, org);
      }
    };
    await Promise.all(writers.map(write));
    for (const store of [older, ...newer]) await store.close();
    const last = await home.open();
    await expectWholeRows(last);
    expect(await notes(last)).toEqual({ triggers: [], repairs: 0, left: 0 });
    const counted = await last.read.all<{ org: number; place: number; records: number }>(
      sql`SELECT org, place, records FROM record_counts WHERE table_name = 'patients' AND records > 0 ORDER BY org`,
    );
    expect(counted).toEqual(
      await last.read.all(sql`SELECT org, 1 AS place, COUNT(*) AS records FROM patients GROUP BY org ORDER BY org`),
    );
    await last.close();
  });
});

/** A schema with one index more than the older one: by last names. */
const INDEXED = schemaOf([
  { ...OLDER_PATIENTS, indexes: [...(OLDER_PATIENTS.indexes ?? []), { keys: ['firstName', 'gender'] }] },
]);
const ADDED = 'patients_by_first_name_gender';

describe('an index that is added', () => {
  postgresTest('is built while others write, and without what a build that was killed has left', async ({ url }) => {
    const home = postgresHome(url);
    await makeOlder(home);
    const indexes = () =>
      onPostgres(
        async (client) =>
          (
            await client.query(
              `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('${ADDED}') AND indrelid = 'patients'::regclass`,
            )
          ).rows,
        url,
      );
    await onPostgres(async (open) => {
      // A transaction that has begun before: whoever builds an index waits for its end.
      await open.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT COUNT(*) FROM organizations');
      await onPostgres(async (client) => {
        await client.query("SET statement_timeout = '300ms'");
        const text = `CREATE INDEX CONCURRENTLY ${ADDED} ON patients (org, first_name, gender, id)`;
        await expect(client.query(text)).rejects.toThrow('statement timeout');
      }, url);
      expect(await indexes()).toEqual([{ valid: false }]);
      const older = await openPostgresStore(url, { schema: OLDER });
      const opening = openPostgresStore(url, { schema: INDEXED });
      let isOpen = false;
      opening.then(
        () => {
          isOpen = true;
        },
        () => {},
      );
      // Until it builds the index anew, and has to wait.
      const waiting = () =>
        onPostgres(
          async (client) =>
            (
              await client.query(
                `SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY IF NOT EXISTS ${ADDED}%' AND wait_event_type = 'Lock'`,
              )
            ).rowCount,
          url,
        );
      await expect.poll(waiting).toBeGreaterThan(0);
      for (let id = 200; id < 220; id++) {
        await older.write((tx) => putRecord(tx, 1, OLDER_PATIENTS, olderPatient(id)), 1);
      }
      expect(isOpen).toBe(false);
      await open.query('COMMIT');
      const newer = await opening;
      expect(await indexes()).toEqual([{ valid: true }]);
      expect((await readSchema(newer.read, 'postgres')).indexes).toContain(ADDED);
      for (const store of [older, newer]) await store.close();
    }, url);
  });
});

/** The same schema with another index of that name. */
const CHANGED: Schema = {
  layouts: INDEXED.layouts.map((layout) => ({
    ...layout,
    indexes: layout.indexes.map((index) => (index.name === ADDED ? { ...index, where: 'id > 0' } : index)),
  })),
  fingerprint: 'changed',
};

describe('an index that keeps its name and is changed', () => {
  postgresTest('is built anew by servers that start together', async ({ url }) => {
    const home = postgresHome(url);
    await makeOlder(home);
    await (await home.open({ schema: INDEXED })).close();
    const servers = await Promise.all([home.open({ schema: CHANGED }), home.open({ schema: CHANGED })]);
    const [{ read }] = servers as [Store, Store];
    const [index] = await read.all(
      sql`SELECT indexdef AS text FROM pg_indexes WHERE schemaname = current_schema() AND indexname = ${ADDED}`,
    );
    expect(index).toEqual({ text: expect.stringContaining('WHERE (id > 0)') });
    for (const server of servers) await server.close();
  });
});
