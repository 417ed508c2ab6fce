import sql, { raw } from 'sql-template-tag';
import { describe, expect } from 'vitest';
import { events } from '../../../../src/catalog/resources/events.ts';
import { missedAppointments } from '../../../../src/catalog/resources/missedappointments.ts';
import { patients } from '../../../../src/catalog/resources/patients.ts';
import { blankRecord } from '../../../../src/server/rendering.ts';
import { layoutOf } from '../../../../src/server/store/layout.ts';
import { putRecord } from '../../../../src/server/store/records.ts';
import { readSchema } from '../../../../src/server/store/schema/introspection.ts';
import type { Store } from '../../../../src/server/store/store.ts';
import {
  expectFiltersToFind,
  found,
  type Home,
  makeOlder,
  OLDER,
  OLDER_PATIENTS,
  olderPatient,
  onBothStores,
  onSqlite,
  ROWS,
} from './olderpractice.ts';

/** Everything that the upgrade leaves: rows of patients and their values, its own notes, names of indexes. */
async function contents(store: Store, { dialect }: Home): Promise<unknown> {
  const { columns, sides } = layoutOf(patients);
  const names = ['org', 'id', ...columns.map(({ name }) => name), 'json'].join(', ');
  return {
    rows: await store.read.all(sql`SELECT ${raw(names)} FROM patients ORDER BY org, id`),
    values: await store.read.all(sql`SELECT org, id, value FROM ${raw(sides[0]?.table ?? '')} ORDER BY org, id, value`),
    notes: await store.read.all(sql`SELECT table_name, org, id, done, total FROM schema_backfills`),
    state: await store.read.all(sql`SELECT name, value FROM schema_state ORDER BY name`),
    indexes: (await readSchema(store.read, dialect)).indexes,
  };
}

describe('a practice of an earlier molar', () => {
  onBothStores('is found by added keys, has added fields, and is as if this molar had made it', async (home) => {
    await makeOlder(home);
    const store = await home.open({ pageRows: 4 });
    await expectFiltersToFind(store);
    for (const { json } of await store.read.all<{ json: string }>(sql`SELECT json FROM patients`)) {
      // As if it had been written by this molar.
      expect(Object.keys(JSON.parse(json))).toEqual(Object.keys(blankRecord(patients)));
    }
    const row = await store.read.get<{ json: string }>(sql`SELECT json FROM patients WHERE org = 1 AND id = 7`);
    expect(JSON.parse(row?.json ?? '')).toEqual({
      ...olderPatient(7),
      nameSuffix: null,
      referredPatients: [],
      lastModified: null,
    });
    expect(await store.read.all(sql`SELECT seq FROM stream_messages`)).toEqual([]);
    const left = (await contents(store, home)) as { rows: { org: number; id: number; json: string }[] };
    await store.write(async (tx) => {
      await tx.run(sql`DELETE FROM patients`);
      await tx.run(sql`DELETE FROM patients_phones_number`);
      for (const { org, json } of left.rows) await putRecord(tx, org, patients, JSON.parse(json));
    });
    expect(await contents(store, home)).toEqual(left);
    // It takes writes of what was added, a resource among it.
    await store.write(async (tx) => {
      await putRecord(tx, 1, patients, { ...blankRecord(patients), ...olderPatient(7), lastName: 'New' });
      await putRecord(tx, 1, events, { ...blankRecord(events), id: 1, title: 'Closed', groupId: 'g' });
    });
    expect(await found(store, 'lastName==New')).toEqual([7]);
    expect(await found(store, 'lastName==Smith 7')).toEqual([]);
    const { indexes } = await readSchema(store.read, home.dialect);
    expect(indexes).toEqual(expect.arrayContaining(['events_by_group_id', 'events_by_location_id_start']));
    await store.close();
  });

  onBothStores(
    'gets indexes, those of declared conditions and unique ones, and figures for the planner',
    async (home) => {
      await makeOlder(home);
      await home.script('DROP INDEX documents_by_name; DELETE FROM schema_state');
      const store = await home.open();
      const text =
        home.dialect === 'sqlite'
          ? sql`SELECT name, sql AS text FROM sqlite_master WHERE type = 'index'`
          : sql`SELECT indexname AS name, indexdef AS text FROM pg_indexes WHERE schemaname = current_schema()`;
      const texts = new Map(
        (await store.read.all<{ name: string; text: string }>(text)).map((row) => [row.name, row.text]),
      );
      expect(texts.get('patients_by_chart_number')).toMatch(/WHERE \(?chart_number IS NOT NULL/);
      expect(texts.get('patients_by_last_name_fold')).toMatch(/\(org, last_name_fold, id\)$/);
      expect(texts.get('documents_by_name')).toMatch(/^CREATE UNIQUE INDEX/);
      if (home.dialect === 'sqlite') {
        expect(
          await store.read.all(sql`SELECT idx, stat FROM sqlite_stat1 WHERE idx LIKE 'patients_by_primary_guarantor%'`),
        ).toEqual([{ idx: 'patients_by_primary_guarantor_id', stat: '1000000 1000000 20 1' }]);
      }
      await store.close();
      // Of before anything was recorded, it is looked through once, and only what lacks something is written.
      const forget = 'DELETE FROM schema_state';
      const lose = `UPDATE patients SET json = REPLACE(json, ',"title":null', ''), last_name_fold = 'wrong' WHERE id = 3 AND org = 1`;
      await home.script(`${forget}; ${lose}`);
      const watch = "INSERT INTO settings VALUES ('written ' || NEW.id, '')";
      await home.script({
        sqlite: `CREATE TRIGGER watch AFTER UPDATE ON patients BEGIN ${watch}; END`,
        postgres: `CREATE FUNCTION watch() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN ${watch}; RETURN NEW; END $$;
        CREATE TRIGGER watch AFTER UPDATE ON patients FOR EACH ROW EXECUTE FUNCTION watch()`,
      });
      const again = await home.open();
      await expectFiltersToFind(again);
      expect(await again.read.all(sql`SELECT name FROM settings WHERE name LIKE 'written%'`)).toEqual([
        { name: 'written 3' },
      ]);
      await again.close();
    },
  );

  onBothStores(
    'whose keys are needed no longer keeps its columns, takes inserts and loses the indexes',
    async (home) => {
      await (await home.open()).close();
      await home.script({
        sqlite: 'ALTER TABLE patients ADD COLUMN species TEXT; ALTER TABLE patients ALTER COLUMN species SET NOT NULL',
        postgres: 'ALTER TABLE patients ADD COLUMN species TEXT NOT NULL',
      });
      const store = await home.open({ schema: OLDER });
      await store.write((tx) => putRecord(tx, 1, OLDER_PATIENTS, olderPatient(1)));
      const { indexes, tables } = await readSchema(store.read, home.dialect);
      expect(indexes).not.toContain('patients_by_last_name_fold');
      expect(indexes).toContain('patients_by_first_name_fold');
      expect(tables.find(({ name }) => name === 'patients')?.columns).toContain('last_name_fold');
      await store.close();
      const again = await home.open();
      expect(await found(again, 'lastName==Smith 1')).toEqual([1]);
      const missed = { ...blankRecord(missedAppointments), id: 5 };
      const put = (to: Store) => to.write((tx) => putRecord(tx, 1, missedAppointments, missed, { is_open: 0 }));
      await put(again);
      await again.close();
      // Columns that no record may lack come with what its records then have.
      const lose = 'ALTER TABLE missedappointments DROP COLUMN is_open; DELETE FROM schema_state';
      await home.script(lose);
      const last = await home.open();
      expect(await last.read.all(sql`SELECT id, is_open FROM missedappointments`)).toEqual([{ id: 5, is_open: 1 }]);
      await put(last);
      await last.close();
    },
  );
});

/** Refuses every page after so many rows, until the function is undone. */
const BREAK = (rows: number) => ({
  sqlite: `CREATE TRIGGER breaks BEFORE INSERT ON schema_backfills WHEN NEW.done > ${rows}
    BEGIN SELECT RAISE(ABORT, 'broken'); END`,
  postgres: `CREATE OR REPLACE FUNCTION breaks() RETURNS TRIGGER LANGUAGE plpgsql AS
    $$ BEGIN IF NEW.done > ${rows} THEN RAISE EXCEPTION 'broken'; END IF; RETURN NEW; END $$;
    CREATE TRIGGER breaks BEFORE INSERT OR UPDATE ON schema_backfills FOR EACH ROW EXECUTE FUNCTION breaks()`,
});
const MEND = { sqlite: 'DROP TRIGGER breaks', postgres: 'DROP TRIGGER breaks ON schema_backfills' };

describe('an upgrade that was interrupted', () => {
  onBothStores('is resumed after each of its pages, and comes to the same', async (home) => {
    await makeOlder(home);
    // Each start takes PostgreSQL long.
    const pageRows = home.dialect === 'sqlite' ? 5 : 10;
    for (let rows = 0; rows < ROWS + 3; rows += pageRows) {
      await home.script(BREAK(rows));
      await expect(home.open({ pageRows })).rejects.toThrow('broken');
      await home.script(MEND);
    }
    const store = await home.open({ pageRows });
    const resumed = await contents(store, home);
    await expectFiltersToFind(store);
    await store.close();
    await home.script('DELETE FROM schema_state');
    const whole = await home.open();
    expect(await contents(whole, home)).toEqual(resumed);
    await whole.close();
  });

  onBothStores('starts over when an earlier molar has written meanwhile', async (home) => {
    await makeOlder(home);
    await home.script(BREAK(5));
    await expect(home.open({ pageRows: 5 })).rejects.toThrow('broken');
    await home.script(MEND);
    const older = await home.open({ schema: OLDER });
    await older.write((tx) => putRecord(tx, 1, OLDER_PATIENTS, { ...olderPatient(2), lastName: 'Changed' }));
    await older.close();
    const store = await home.open({ pageRows: 5 });
    expect(await found(store, 'lastName==Changed')).toEqual([2]);
    await store.close();
  });

  // What tells that somebody has written are the same two statements on both stores.
  onSqlite('starts over when a server that knows of no upgrades has written behind it', async (home) => {
    await makeOlder(home);
    await home.script(BREAK(5));
    await expect(home.open({ pageRows: 5 })).rejects.toThrow('broken');
    await home.script(MEND);
    const written = JSON.stringify({ ...olderPatient(2), lastName: 'Changed' });
    const text = `UPDATE patients SET json = '${written}' WHERE org = 1 AND id = 2;
      INSERT INTO stream_heads (org, seq, shared) VALUES (1, 1, 0) ON CONFLICT (org) DO UPDATE SET seq = stream_heads.seq + 1`;
    await home.script(text);
    const store = await home.open({ pageRows: 5 });
    expect(await found(store, 'lastName==Changed')).toEqual([2]);
    await store.close();
  });

  onSqlite('starts over when a server has written what it does not publish', async (home) => {
    await makeOlder(home);
    await home.script(BREAK(5));
    await expect(home.open({ pageRows: 5 })).rejects.toThrow('broken');
    await home.script(MEND);
    const written = JSON.stringify({ ...olderPatient(2), lastName: 'Changed' });
    const text = `UPDATE patients SET json = '${written}' WHERE org = 1 AND id = 2;
      UPDATE log_heads SET last_id = last_id + 1 WHERE name = 'audit'`;
    await home.script(text);
    const store = await home.open({ pageRows: 5 });
    expect(await found(store, 'lastName==Changed')).toEqual([2]);
    await store.close();
  });

  onBothStores('comes to its end while others write all the time', async (home) => {
    await makeOlder(home);
    const write =
      'INSERT INTO stream_heads (org, seq, shared) VALUES (1, 1, 0) ON CONFLICT (org) DO UPDATE SET seq = stream_heads.seq + 1';
    await home.script({
      sqlite: `CREATE TRIGGER busy AFTER INSERT ON schema_backfills BEGIN ${write}; END`,
      postgres: `CREATE FUNCTION busy() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN ${write}; RETURN NEW; END $$;
        CREATE TRIGGER busy AFTER INSERT OR UPDATE ON schema_backfills FOR EACH ROW EXECUTE FUNCTION busy()`,
    });
    const store = await home.open({ pageRows: 5 });
    await expectFiltersToFind(store);
    await store.ping();
    await store.close();
  });

  onBothStores('is shared by those who open the store together', async (home) => {
    await makeOlder(home);
    const stores = await Promise.all([1, 2, 3].map(() => home.open({ pageRows: 2 })));
    for (const store of stores) await expectFiltersToFind(store);
    for (const store of stores) await store.close();
  });
});
