import { mkdir } from 'node:fs/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { migrateSchema } from '../../../src/server/maintenance/migrateschema.ts';
import { MIGRATIONS } from '../../../src/server/store/migrations/steps.ts';
import { openSqliteStore } from '../../../src/server/store/sqlite/store.ts';
import { molarVersion } from '../../../src/server/version.ts';
import { downgradeScript } from '../../support/downgrade.ts';
import { onPostgres, postgresTest } from '../../support/postgres.ts';
import { testService } from '../../support/service.ts';
import { answers, check, copied, inDatabase, linesOf, own, sharedPractice, WORK } from './practices.ts';

const practice = sharedPractice();
const NOTHING = { changed: false, migrations: [], tables: [], columns: [], indexes: [], finished: true };

describe('a schema that is brought to this version', () => {
  it('tells what was done, and the next time that nothing was', async () => {
    const data = await copied(practice.base, practice.fresh());
    inDatabase(data, (connection) => connection.exec(downgradeScript(11)));
    const report = await migrateSchema({ data }, WORK);
    expect(report).toMatchObject({ place: data, version: molarVersion(), changed: true, finished: true });
    expect(report.migrations).toEqual(MIGRATIONS.slice(11).map(({ name }) => name));
    expect(report.tables).toEqual(expect.arrayContaining(['audit_patients', 'stream_heads']));
    expect(report.tables).not.toContain('patients');
    expect(report.columns).toEqual(expect.arrayContaining(['stream_messages.record_id', 'async_deliveries.who']));
    // Those of new tables go without saying.
    expect(report.columns.filter((name) => report.tables.includes(name.split('.')[0] ?? ''))).toEqual([]);
    expect(report.indexes).toContain('file_removals_by_due');
    expect(await migrateSchema({ data }, WORK)).toEqual({ ...NOTHING, place: data, version: molarVersion() });
    expect(linesOf(await check({ data })).filter((line) => line.startsWith('schema'))).toEqual([]);
  });

  it('has an index that was gone, and the columns of before', async () => {
    const data = await copied(practice.base, practice.fresh());
    const before = await answers({ data: await copied(practice.base, practice.fresh()) });
    inDatabase(data, (connection) =>
      connection.exec("DROP INDEX events_by_start; UPDATE schema_state SET value = 'other' WHERE name = 'fingerprint'"),
    );
    expect(await migrateSchema({ data }, WORK)).toMatchObject({
      ...NOTHING,
      changed: true,
      indexes: ['events_by_start'],
    });
    expect(await answers({ data })).toEqual(before);
  });

  it('is refused where there is none, and while a server runs on it', async () => {
    const data = practice.fresh();
    await mkdir(data);
    await expect(migrateSchema({ data }, WORK)).rejects.toThrow('There is no database');
    const served = await copied(practice.base, practice.fresh());
    const service = await testService([], { data: served });
    await expect(migrateSchema({ data: served }, WORK)).rejects.toThrow('Another server is running');
    await service.close();
    expect((await migrateSchema({ data: served }, WORK)).changed).toBe(false);
    // Nobody keeps it afterwards.
    await (await openSqliteStore(served, { serving: true })).close();
  });

  it('fills a column that is new, tells of it every few seconds, and ends when it is told to', async () => {
    const data = await copied(practice.base, practice.fresh());
    inDatabase(data, (connection) =>
      connection.exec(
        `ALTER TABLE scheduletemplatereasons RENAME COLUMN location_id TO place;
         UPDATE schema_state SET value = 'other' WHERE name = 'fingerprint'`,
      ),
    );
    // Each look at the clock is seconds later.
    let time = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => {
      time += 5000;
      return time;
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const told: unknown[] = [];
    const progress = (...what: unknown[]) => void told.push(what);
    const signal = AbortSignal.abort(new Error('Stopped here.'));
    await expect(migrateSchema({ data }, { ...WORK, progress, signal })).rejects.toThrow('Stopped here.');
    expect(told).toEqual([]);
    inDatabase(data, (connection) =>
      connection.exec("UPDATE schema_state SET value = 'other' WHERE name = 'fingerprint'"),
    );
    const report = await migrateSchema({ data }, { ...WORK, progress });
    expect(report).toMatchObject({ changed: true, finished: true, tables: [] });
    const rows = inDatabase(data, (connection) =>
      connection.prepare('SELECT COUNT(*) FROM scheduletemplatereasons').pluck().get(),
    );
    expect(told).toContainEqual([`scheduletemplatereasons: ${rows} rows`, 0]);
    expect(linesOf(await check({ data }))).toEqual([]);
  });

  postgresTest('is made in an empty database', async (database) => {
    const location = { data: practice.fresh(), database: own(database) };
    const report = await migrateSchema(location, WORK);
    expect(report).toMatchObject({ changed: true, columns: [], finished: true });
    expect(report.tables).toEqual(expect.arrayContaining(['patients', 'audit_entries']));
    expect(report.migrations).toEqual(MIGRATIONS.map(({ name }) => name));
    expect(await migrateSchema(location, WORK)).toMatchObject(NOTHING);
    // As long as servers of an earlier version may go on, what they need stays, unless somebody says that they are gone.
    const left = JSON.stringify({ indexes: [], notBefore: Number.MAX_SAFE_INTEGER });
    const unfinished = `INSERT INTO schema_state (name, value) VALUES ('unfinished', '${left}')`;
    await onPostgres((client) => client.query(unfinished), database.url);
    expect(await migrateSchema(location, WORK)).toMatchObject({ ...NOTHING, finished: false });
    expect(await migrateSchema(location, WORK, true)).toMatchObject(NOTHING);
  });
});
