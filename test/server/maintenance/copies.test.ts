import { mkdir } from 'node:fs/promises';
import sql from 'sql-template-tag';
import { describe, expect, it } from 'vitest';
import { orgsOf, type RecordPage, recordPages, within } from '../../../src/server/maintenance/check/pages.ts';
import { completeCopy, copyDatabase, countTables } from '../../../src/server/maintenance/copy/database.ts';
import { digestOf, insertRows, keyOf, pagesOf, readRows } from '../../../src/server/maintenance/copy/rows.ts';
import { beginCopy, identityOf, readTableState, STATE_TABLE } from '../../../src/server/maintenance/copy/state.ts';
import { openSqliteSnapshot, type SqliteSnapshot } from '../../../src/server/maintenance/snapshot.ts';
import { readSchema } from '../../../src/server/store/schema/introspection.ts';
import { openSqliteStore } from '../../../src/server/store/sqlite/store.ts';
import type { Store } from '../../../src/server/store/store.ts';
import { copied, inDatabase, sharedPractice, stoppingAt, WORK } from './practices.ts';

const practice = sharedPractice();

/** A folder with a store that has made nothing but itself. */
async function empty() {
  const folder = practice.fresh();
  await mkdir(folder);
  return { folder, store: await openSqliteStore(folder, { serving: false }) };
}

/** The rows of every table that a copy carries over, each as a text, in whichever order their columns and they stand. */
async function contentOf(folder: string): Promise<Record<string, string[]>> {
  const snapshot = await openSqliteSnapshot(folder);
  const tables = Object.keys(await countTables(snapshot));
  await snapshot.close();
  const textOf = (row: unknown) => JSON.stringify(Object.entries(row as object).sort());
  return inDatabase(folder, (connection) =>
    Object.fromEntries(
      tables.map((table) => [table, connection.prepare(`SELECT * FROM ${table}`).all().map(textOf).sort()]),
    ),
  );
}

/** A practice with more rows of a table than are copied at once. */
async function large(): Promise<string> {
  const data = await copied(practice.base, practice.fresh());
  inDatabase(data, (connection) => {
    const insert = connection.prepare("INSERT INTO document_tags (org, fold, name) VALUES (1, ?, 'x')");
    connection.transaction(() => {
      for (let n = 0; n < 1234; n++) insert.run(`tag ${String(n).padStart(5, '0')}`);
    })();
  });
  return data;
}

describe('a copy of a database', () => {
  it('has every row, with the numbers that the database itself gives', async () => {
    const data = await large();
    // A table whose rows are all gone goes on with its numbers, too.
    inDatabase(data, (connection) =>
      connection.exec("DELETE FROM async_deliveries; INSERT INTO sqlite_sequence VALUES ('async_deliveries', 7)"),
    );
    inDatabase(data, (connection) => connection.exec('UPDATE sqlite_sequence SET seq = seq + 1000'));
    const source = await openSqliteSnapshot(data);
    const { folder, store } = await empty();
    // Columns may stand in another order: of a column that was added later it depends on when.
    inDatabase(folder, (connection) =>
      connection.exec(`DROP TABLE document_tags; CREATE TABLE document_tags (name TEXT NOT NULL, fold TEXT NOT NULL,
        org INTEGER NOT NULL, PRIMARY KEY (org, fold)) WITHOUT ROWID`),
    );
    const told: Record<string, number> = {};
    const progress = (what: string, rows: number) => {
      told[what] = (told[what] ?? 0) + rows;
    };
    const target = { store, dialect: 'sqlite', name: 'target' } as const;
    const counts = await copyDatabase(source, target, { ...WORK, progress });
    expect(counts).toEqual(await countTables(source));
    expect(counts.document_tags).toBeGreaterThan(1234);
    expect(told['Copying document_tags']).toBe(counts.document_tags);
    expect(told['Comparing document_tags']).toBe((counts.document_tags ?? 0) * 2);
    await completeCopy(target);
    await store.close();
    await source.close();
    expect(await contentOf(folder)).toEqual(await contentOf(data));
    const numbers = (of: string) =>
      inDatabase(of, (connection) => connection.prepare('SELECT * FROM sqlite_sequence ORDER BY name').all());
    expect(numbers(folder)).toEqual(numbers(data));
  });

  it('goes on where it was interrupted, within a table and behind it', async () => {
    const data = await large();
    const { folder, store } = await empty();
    const target = { store, dialect: 'sqlite', name: 'target' } as const;
    const source = await openSqliteSnapshot(data);
    for (const [times, rows] of [
      [1, 500],
      [1, 1000],
    ] as const) {
      await expect(copyDatabase(source, target, stoppingAt('Copying document_tags', times))).rejects.toThrow('Stopped');
      const found = inDatabase(folder, (connection) =>
        connection.prepare('SELECT COUNT(*) FROM document_tags').pluck().get(),
      );
      expect(found).toBe(rows);
      const { after, done } = await readTableState(store.read, 'document_tags');
      expect([after?.length, done]).toEqual([2, false]);
    }
    await expect(copyDatabase(source, target, stoppingAt('Comparing document_tags', 1))).rejects.toThrow('Stopped');
    expect(await readTableState(store.read, 'document_tags')).toEqual({ after: null, done: true });
    expect(await readTableState(store.read, 'nothing')).toEqual({ after: null, done: false });
    const copiedAgain: string[] = [];
    await copyDatabase(source, target, { ...WORK, progress: (what) => void copiedAgain.push(what) });
    expect(copiedAgain.filter((what) => what.startsWith('Copying'))).toEqual([]);
    await store.close();
    await source.close();
    expect((await contentOf(folder)).document_tags).toEqual((await contentOf(data)).document_tags);
  });

  it('goes on whichever write it was interrupted before', async () => {
    const { store } = await empty();
    const source = await openSqliteSnapshot(practice.base);
    let counts: object | undefined;
    // The first write says of which source the copy is; each run has one more behind it.
    for (let runs = 1; counts === undefined && runs < 1000; runs++) {
      let left = 2;
      const write: Store['write'] = (work) => (left-- > 0 ? store.write(work) : Promise.reject(new Error('No more.')));
      const target = { store: Object.assign(Object.create(store), { write }), dialect: 'sqlite', name: 'it' } as const;
      counts = await copyDatabase(source, target, WORK).catch(({ message }) => void expect(message).toBe('No more.'));
    }
    expect(counts).toEqual(await countTables(source));
    await store.close();
    await source.close();
  });

  it.each([
    ['a row that is gone', "DELETE FROM document_tags WHERE fold = 'tag 00700'"],
    ['a row that is more', "INSERT INTO document_tags (org, fold, name) VALUES (1, 'zzz', 'x')"],
    ['a value that is another', "UPDATE document_tags SET name = 'y' WHERE fold = 'tag 00700'"],
  ])('is refused where the target has %s', async (_name, change) => {
    const data = await large();
    const { folder, store } = await empty();
    const target = { store, dialect: 'sqlite', name: 'the target' } as const;
    const source = await openSqliteSnapshot(data);
    await expect(copyDatabase(source, target, stoppingAt('Comparing document_tags', 1))).rejects.toThrow('Stopped');
    inDatabase(folder, (connection) => connection.exec(change));
    await expect(copyDatabase(source, target, WORK)).rejects.toThrow(
      'The copy in the target is not the source: document_tags has',
    );
    await store.close();
    await source.close();
  });

  it('is begun in an empty store alone, and gone on with of the same source', async () => {
    const { folder, store } = await empty();
    const schema = () => readSchema(store.read, 'sqlite');
    const begin = async (source: string) => store.write(async (tx) => beginCopy(tx, await schema(), source, 'target'));
    await begin('one');
    await begin('one');
    await expect(begin('two')).rejects.toThrow('target has an unfinished copy of another source.');
    const rows = (table: string) =>
      inDatabase(folder, (connection) => connection.prepare(`SELECT COUNT(*) FROM ${table}`).pluck().get());
    expect(['log_heads', 'settings', 'audit_checkpoints'].map(rows)).toEqual([0, 0, 0]);
    await completeCopy({ store, dialect: 'sqlite', name: 'target' });
    expect((await schema()).tables.map(({ name }) => name)).not.toContain(STATE_TABLE);
    inDatabase(folder, (connection) =>
      connection.exec("INSERT INTO document_tags (org, fold, name) VALUES (1, 'a', 'A')"),
    );
    await expect(begin('one')).rejects.toThrow('target is not empty: it has document_tags.');
    await store.close();
  });

  it('knows its source by its own name and the time it was made', async () => {
    const identity = async (change = '') => {
      const data = await copied(practice.base, practice.fresh());
      inDatabase(data, (connection) => connection.exec(change));
      const snapshot = await openSqliteSnapshot(data);
      return identityOf(snapshot.read).finally(() => snapshot.close());
    };
    const found = await identity();
    expect(found).toMatch(/^[0-9a-f]{64}$/);
    expect(await identity("UPDATE settings SET value = 'x' WHERE name <> 'store_id'")).toBe(found);
    expect(await identity("UPDATE settings SET value = 'x' WHERE name = 'store_id'")).not.toBe(found);
    expect(await identity("UPDATE schema_migrations SET applied_at = 'then' WHERE version = 1")).not.toBe(found);
    expect(await identity("UPDATE schema_migrations SET applied_at = 'then' WHERE version > 1")).toBe(found);
  });
});

/** A database of the test's own: things of some organizations, each by its id. */
async function things(orgs: Readonly<Record<number, number>>): Promise<SqliteSnapshot> {
  const folder = practice.fresh();
  await mkdir(folder);
  inDatabase(folder, (connection) => {
    connection.exec('CREATE TABLE things (org INTEGER, id INTEGER, name TEXT, PRIMARY KEY (org, id)) WITHOUT ROWID');
    connection.exec('CREATE TABLE names (name TEXT PRIMARY KEY, note TEXT)');
    for (const [org, most] of Object.entries(orgs))
      for (let id = 1; id <= most; id++)
        connection.exec(`INSERT INTO things VALUES (${org}, ${id * 2}, 'thing ${id}')`);
    for (let n = 0; n < 3; n++) connection.exec(`INSERT INTO names VALUES ('name ${n}', NULL)`);
  });
  return openSqliteSnapshot(folder);
}

const THINGS = { name: 'things', columns: ['org', 'id', 'name'], key: ['org', 'id'], needed: [] };

describe('rows that are read page by page', () => {
  it.each([
    [499, [499]],
    [500, [500, 0]],
    [501, [500, 1]],
    [1000, [500, 500, 0]],
  ])('of an organization with %i are all in one page each', async (rows, pages) => {
    const snapshot = await things({ 3: rows, 7: 1 });
    expect(await orgsOf(snapshot.read, 'things')).toEqual([3, 7]);
    const found: RecordPage<{ id: number }>[] = [];
    for await (const page of recordPages<{ id: number }>(snapshot.read, 'things', ['id'], [3, 7, 9])) found.push(page);
    expect(found.map(({ org, rows: { length } }) => [org, length])).toEqual([
      ...pages.map((length) => [3, length]),
      [7, 1],
      [9, 0],
    ]);
    expect(found.flatMap((page) => page.rows.map(({ id }) => id)).slice(0, rows)).toEqual(
      Array.from({ length: rows }, (_, n) => (n + 1) * 2),
    );
    // Every id is in the range of one page, whether there is a row or not.
    const ofThree = found.filter(({ org }) => org === 3);
    for (const id of [1, 2, 999, 1000, 1001, 1002, 2000, 5000]) {
      const inside = await Promise.all(
        ofThree.map((page) =>
          snapshot.read.get(sql`SELECT 1 AS found FROM (SELECT ${id} AS id) AS one WHERE ${within('id', page)}`),
        ),
      );
      expect([id, inside.filter((row) => row !== undefined).length]).toEqual([id, 1]);
    }
    await snapshot.close();
  });

  it('are those of nobody where a table is empty', async () => {
    const snapshot = await things({});
    expect(await orgsOf(snapshot.read, 'things')).toEqual([]);
    expect(await readRows(snapshot.read, THINGS, undefined)).toEqual([]);
    await snapshot.close();
  });

  it('come in the order of their key, behind the one that is given, 500 at a time', async () => {
    const snapshot = await things({ 1: 700, 2: 10 });
    const first = await readRows(snapshot.read, THINGS, undefined);
    expect([first.length, first[0], keyOf(THINGS, first[499] ?? [])]).toEqual([500, [1, 2, 'thing 1'], [1, 1000]]);
    const second = await readRows(snapshot.read, THINGS, [1, 1000]);
    expect([second.length, second[0], second.at(-1)]).toEqual([210, [1, 1002, 'thing 501'], [2, 20, 'thing 10']]);
    const lengths: number[] = [];
    for await (const page of pagesOf(snapshot.read, THINGS)) lengths.push(page.length);
    expect(lengths).toEqual([500, 210]);
    const names = { name: 'names', columns: ['note', 'name'], key: ['name'], needed: [] };
    expect(await readRows(snapshot.read, names, ['name 0'])).toEqual([
      [null, 'name 1'],
      [null, 'name 2'],
    ]);
    expect(keyOf(names, [null, 'name 1'])).toEqual(['name 1']);
    await snapshot.close();
  });

  it('are inserted whole, however many there are', async () => {
    const { folder, store } = await empty();
    const table = { name: 'document_tags', columns: ['org', 'fold', 'name'], key: ['org', 'fold'], needed: [] };
    let next = 0;
    for (const rows of [0, 1, 9, 10, 11, 111, 250]) {
      const values = Array.from({ length: rows }, () => [1, `tag ${String(next++).padStart(4, '0')}`, `name ${next}`]);
      await store.write((tx) => insertRows(tx, table, values));
      const found = inDatabase(folder, (connection) =>
        connection
          .prepare('SELECT * FROM document_tags ORDER BY fold')
          .raw()
          .all()
          .slice(next - rows),
      );
      expect(found).toEqual(values);
    }
    await store.close();
  });

  it('are compared by all that they have, in whichever order', async () => {
    const digest = async (change = '') => {
      const data = await large();
      inDatabase(data, (connection) => connection.exec(change));
      const snapshot = await openSqliteSnapshot(data);
      const table = { name: 'document_tags', columns: ['org', 'fold', 'name'], key: ['org', 'fold'], needed: [] };
      return digestOf(snapshot.read, table, WORK).finally(() => snapshot.close());
    };
    const found = await digest();
    expect(found.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(found.rows).toBeGreaterThan(1234);
    expect(await digest()).toEqual(found);
    const changes = [
      "UPDATE document_tags SET name = 'y' WHERE fold = 'tag 00001'",
      "UPDATE document_tags SET name = 'y' WHERE fold = 'tag 01233'",
      "UPDATE document_tags SET org = 2 WHERE fold = 'tag 00600'",
    ];
    for (const change of changes) {
      const other = await digest(change);
      expect([other.rows, other.hash === found.hash]).toEqual([found.rows, false]);
    }
    expect((await digest("DELETE FROM document_tags WHERE fold = 'tag 00001'")).rows).toBe(found.rows - 1);
  });
});
