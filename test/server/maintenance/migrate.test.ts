import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refuseUnfinished } from '../../../src/server/maintenance/copy/state.ts';
import { migrate } from '../../../src/server/maintenance/migrate.ts';
import { openPostgresStore } from '../../../src/server/store/postgres/store.ts';
import { openConnection } from '../../../src/sqlite/open.ts';
import { LOCATIONS } from '../../support/ids.ts';
import { onPostgres, postgresTest } from '../../support/postgres.ts';
import { preparedTest } from '../../support/preparedschemas.ts';
import { rawRows, tamper } from '../../support/rawsql.ts';
import { testService } from '../../support/service.ts';
import { sharedMigration } from './migrated.ts';
import {
  answers,
  check,
  copied,
  filesIn,
  inDatabase,
  linesOf,
  made,
  makePractice,
  own,
  scratch,
  stoppingAt,
  WORK,
} from './practices.ts';

let place: Awaited<ReturnType<typeof scratch>>;
let base: string;
let answered: Record<string, string>;
beforeAll(async () => {
  place = await scratch();
  base = join(place.path, 'base');
  await makePractice(base);
  inDatabase(base, (connection) => connection.exec("INSERT INTO sqlite_sequence VALUES ('async_deliveries', 7)"));
  answered = await answers({ data: await copied(base, join(place.path, 'asked')) });
});
afterAll(() => place.remove());

let count = 0;
const fresh = () => join(place.path, `new-${++count}`);

/** The practice in a database, for tests that leave it as it is. */
const shared = sharedMigration((database) => migrate({ data: base }, { data: fresh(), database }, WORK));
const sharingTest = (...[name, run]: Parameters<typeof postgresTest>) => postgresTest(name, run, shared.database);

/** A practice without documents: a server can be started on it without their files. */
async function bare(): Promise<string> {
  const data = await copied(base, fresh());
  inDatabase(data, (connection) => {
    for (const table of ['documents', 'documents_tags', 'document_tags']) connection.exec(`DELETE FROM ${table}`);
    connection.exec("DELETE FROM record_counts WHERE table_name = 'documents'");
  });
  return data;
}

describe('a migration', () => {
  preparedTest('to PostgreSQL and back answers as the source did, to the byte', async (database) => {
    const url = own(database);
    const files = fresh();
    const there = await migrate({ data: base }, { data: fresh(), database: url, files }, WORK);
    expect(there).toMatchObject({ from: base, problems: [] });
    expect(linesOf(await check({ data: fresh(), database: url, files }, { deep: true }))).toEqual([]);
    const data = fresh();
    const back = await migrate({ data: fresh(), database: url, files }, { data }, WORK);
    // Where it arrives, each migration has an entry, which tells of everybody, and is signed.
    const { audit_checkpoints = 0, audit_entries = 0, audit_patients = 0 } = there.tables;
    const more = { audit_checkpoints, audit_entries, audit_patients };
    const tables = { ...there.tables, ...Object.fromEntries(Object.entries(more).map(([name, n]) => [name, n + 1])) };
    expect({ tables: back.tables, files: back.files }).toEqual({ tables, files: there.files });
    expect(linesOf(await check({ data }, { deep: true }))).toEqual([]);
    expect(await answers({ data })).toEqual(answered);
    const given = "SELECT name, seq FROM sqlite_sequence WHERE name NOT LIKE 'audit%' ORDER BY name";
    const [source, copy] = [base, data].map((of) => inDatabase(of, (connection) => connection.prepare(given).all()));
    expect(copy).toEqual(source);
    const entries = inDatabase(data, (connection) =>
      connection.prepare("SELECT who, covers_all FROM audit_entries WHERE operation = 'server.migrate'").all(),
    );
    expect(entries).toEqual(Array(2).fill({ who: expect.stringMatching(/^command /), covers_all: 1 }));
  });

  preparedTest('is answered from PostgreSQL as from the folder, and goes back with what it has', async (database) => {
    const url = own(database);
    await migrate({ data: await bare() }, { data: fresh(), database: url }, WORK);
    const service = await testService([], { database: url });
    for (const path of ['/patients?lastId=0', '/transactions?filter=transactionDate>=2000-01-01', '/events?lastId=0']) {
      const called = await service.call('GET', path);
      const [, expected] = Object.entries(answered).find(([name]) => name.endsWith(` ${path}`)) ?? [];
      expect(called.text).toBe(expected);
    }
    // Numbers go on where they were: none is given again.
    const { id } = await made(service, '/events', {
      title: 'Next',
      start: '2026-05-01T18:00:00Z',
      location: { id: LOCATIONS.east },
    });
    const last = inDatabase(base, (connection) =>
      connection.prepare("SELECT MAX(last_id) FROM sequences WHERE org = 1 AND type = 'EventV1'").pluck().get(),
    );
    expect(id).toBe(Number(last) + 1);
    await service.close();
    // Entries of the audit log that have no place yet get it where they are brought.
    const log = { path: '', database: url };
    const [before] = await rawRows<{ last: number }>(log, 'SELECT MAX(id) AS last FROM audit_entries');
    const entry = (who: string) =>
      `INSERT INTO audit_entries (at, who, operation, hash) VALUES ('2026-03-02T12:00:00.000Z', '${who}', 'x', '')`;
    await tamper(log, entry('first'), entry('second'));
    const data = fresh();
    await migrate({ data: fresh(), database: url }, { data }, WORK);
    const there = { path: data, database: undefined };
    const newest = before?.last ?? 0;
    expect(await rawRows(there, `SELECT id, who FROM audit_entries WHERE operation = 'x' ORDER BY id`)).toMatchObject([
      { id: newest + 1, who: 'first' },
      { id: newest + 2, who: 'second' },
    ]);
    expect(linesOf(await check({ data }, { deep: true }))).toEqual([]);
  });

  sharingTest('leaves files where they are unless it is told', async (database) => {
    expect((await shared.report()).files).toBeNull();
    const found = await check({ data: fresh(), database: own(database), files: join(base, 'files') });
    expect(linesOf(found)).toEqual([]);
  });

  preparedTest(
    'leaves out the tables that a removed key has left behind, and tells how much there was and what is missing',
    async (database) => {
      const source = await copied(base, fresh());
      inDatabase(source, (connection) =>
        connection.exec(`CREATE TABLE patients_species (org INTEGER NOT NULL, value TEXT NOT NULL, id INTEGER NOT NULL,
        PRIMARY KEY (org, value, id)) WITHOUT ROWID; INSERT INTO patients_species VALUES (1, 'cat', 1)`),
      );
      const [lost = '', ...kept] = await filesIn(join(source, 'files'));
      await rm(lost);
      const sizes = await Promise.all(kept.map(async (file) => (await stat(file)).size));
      const to = { data: fresh(), database: own(database), files: fresh() };
      const { tables, rows, files, problems } = await migrate({ data: source }, to, WORK);
      expect(Object.keys(tables)).not.toContain('patients_species');
      const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0);
      expect({ rows, files, problems }).toEqual({
        ...{ rows: sum(Object.values(tables)), problems: [`${basename(lost)} is missing`] },
        files: { count: kept.length, bytes: sum(sizes) },
      });
    },
  );

  preparedTest('goes on where it was interrupted, with nothing twice', async (database) => {
    const url = own(database);
    const to = { data: fresh(), database: url, files: fresh() };
    for (const [what, times] of [
      ['Copying patients', 1],
      ['Copying stream_messages', 1],
      ['Comparing', 5],
      ['Copying files', 1],
    ] as const) {
      await expect(migrate({ data: base }, to, stoppingAt(what, times))).rejects.toThrow('Stopped here.');
      expect(linesOf(await check(to))).toEqual([
        'schema copy_state: a copy into it is not complete: run molar server migrate or restore again',
      ]);
    }
    const serving = async () => {
      const { read, close } = await openPostgresStore(url);
      await refuseUnfinished(read, 'postgres').finally(close);
    };
    await expect(serving()).rejects.toThrow('has an unfinished copy');
    await migrate({ data: base }, to, WORK);
    await serving();
    expect(linesOf(await check(to, { deep: true }))).toEqual([]);
  });

  sharingTest('to a folder goes on where it was interrupted, and the folder is there only then', async (database) => {
    const data = fresh();
    const from = { data: base, database: own(database) };
    for (const what of ['Copying patients', 'Copying files', 'Reading files back']) {
      await expect(migrate(from, { data }, stoppingAt(what))).rejects.toThrow('Stopped here.');
      await expect(stat(data)).rejects.toThrow('ENOENT');
    }
    await migrate(from, { data }, WORK);
    // One that was complete but for its name is made again: nobody knows whether it was verified.
    await rename(data, `${data}.part`);
    await writeFile(join(`${data}.part`, 'unfinished.lock'), '');
    inDatabase(`${data}.part`, (connection) => connection.exec('DELETE FROM patients'));
    await migrate(from, { data }, WORK);
    expect(await answers({ data })).toEqual(answered);
  });
});

describe('a migration is refused', () => {
  it('between folders', async () => {
    await expect(migrate({ data: base }, { data: fresh() }, WORK)).rejects.toThrow('Both sides are folders.');
  });

  preparedTest('of a source that another version of molar has changed', async (database) => {
    const source = await copied(base, fresh());
    inDatabase(source, (connection) =>
      connection.exec("UPDATE schema_state SET value = 'other' WHERE name = 'fingerprint'"),
    );
    await expect(migrate({ data: source }, { data: fresh(), database: own(database) }, WORK)).rejects.toMatchObject({
      message: expect.stringMatching(/^The source is of another version of molar than .+\.$/),
      next: expect.stringContaining('Start and stop molar serve on the source once'),
    });
  });

  sharingTest('into a database that has something, which stays', async (database) => {
    const url = own(database);
    const again = migrate({ data: base }, { data: fresh(), database: url }, WORK);
    await expect(again).rejects.toThrow(/is not empty: it has \w+\./);
    expect(linesOf(await check({ data: base, database: url }))).toEqual([]);
  });

  preparedTest('when what was begun is of another source, or the source has changed since', async (database) => {
    const source = await copied(base, fresh());
    const to = { data: fresh(), database: own(database) };
    await expect(migrate({ data: source }, to, stoppingAt('Copying patients'))).rejects.toThrow('Stopped here.');
    const other = await copied(base, fresh());
    inDatabase(other, (connection) => connection.exec("UPDATE settings SET value = 'another' WHERE name = 'store_id'"));
    await expect(migrate({ data: other }, to, WORK)).rejects.toThrow('has an unfinished copy of another source.');
    await expect(migrate({ data: source }, to, stoppingAt('Comparing'))).rejects.toThrow('Stopped here.');
    inDatabase(source, (connection) => connection.exec("UPDATE access_tokens SET label = 'changed'"));
    await expect(migrate({ data: source }, to, WORK)).rejects.toThrow('access_tokens has');
  });

  preparedTest('while a server runs on a side, and keeps servers away from its source', async (database) => {
    const url = own(database);
    const source = await bare();
    const near = await testService([], { data: source });
    await expect(migrate({ data: source }, { data: fresh(), database: url }, WORK)).rejects.toThrow(
      `A server is running on ${source}.`,
    );
    await near.close();
    const started: Promise<unknown>[] = [];
    const progress = (what: string) => {
      if (what === 'Copying patients') started.push(testService([], { data: source }).catch((error: unknown) => error));
    };
    await migrate({ data: source }, { data: fresh(), database: url }, { ...WORK, progress });
    expect(await started[0]).toMatchObject({
      name: 'StoreUnusable',
      message: expect.stringContaining('Another server is running'),
    });
    const far = await testService([], { database: url });
    const back = migrate({ data: fresh(), database: url }, { data: fresh() }, WORK);
    await expect(back).rejects.toThrow('A server is running on');
    await expect(migrate({ data: source }, { data: fresh(), database: url }, WORK)).rejects.toThrow(
      `A server is running on ${new URL(url).hostname}`,
    );
    await far.close();
  });

  preparedTest('while an import writes to the source', async (database) => {
    const source = await copied(base, fresh());
    const url = own(database);
    const to = { data: fresh(), database: url };
    const importing = openConnection(join(source, 'molar.sqlite'));
    importing.exec('BEGIN IMMEDIATE');
    await expect(migrate({ data: source }, to, WORK)).rejects.toThrow('is being written to.');
    importing.close();
    // Between two parts it does not write.
    inDatabase(source, (connection) =>
      connection.exec("INSERT INTO imports (name, plan, progress, position) VALUES ('x', '{}', '{}', '')"),
    );
    await expect(migrate({ data: source }, to, WORK)).rejects.toThrow('has an import that is published in part.');
    inDatabase(source, (connection) => connection.exec('DELETE FROM imports'));
    await migrate({ data: source }, to, WORK);
    await onPostgres(async (client) => {
      await client.query('BEGIN; SELECT * FROM log_heads FOR UPDATE');
      const refused = migrate({ data: fresh(), database: url }, { data: fresh() }, WORK);
      await expect(refused).rejects.toThrow('is being written to.');
    }, database.url);
  });

  sharingTest('to a folder that has something', async (database) => {
    const url = own(database);
    const data = fresh();
    await mkdir(data);
    await writeFile(join(data, 'mine'), 'x');
    await expect(migrate({ data: base, database: url }, { data }, WORK)).rejects.toThrow(
      'is there already, and not empty.',
    );
    expect(await readdir(data)).toEqual(['mine']);
  });
});
