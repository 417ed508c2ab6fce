import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { RESOURCES } from '../../../../src/catalog/catalog.ts';
import { tableOf } from '../../../../src/server/store/layout.ts';
import { writtenTables } from '../../../../src/server/store/sqlite/countcache.ts';
import { openSqliteStore } from '../../../../src/server/store/sqlite/store.ts';
import type { Store } from '../../../../src/server/store/store.ts';
import { openConnection } from '../../../../src/sqlite/open.ts';

test.each<[string, string[]]>([
  ['INSERT INTO patients (org, id) VALUES (?, ?)', ['patients']],
  ['INSERT OR REPLACE INTO patients (org) VALUES (?)', ['patients']],
  ['  insert into "patients" (org) VALUES (?)', ['patients']],
  ['UPDATE transactions SET json = ? WHERE id = ?', ['transactions']],
  ['DELETE FROM events_tags WHERE id = ?', ['events_tags']],
  ['WITH old AS (SELECT 1) DELETE\n FROM patients', []],
  ['WITH old AS (SELECT 1) DELETE FROM patients', ['patients']],
  ['INSERT INTO a SELECT * FROM b', ['a']],
  ['SELECT * FROM patients', []],
  ['BEGIN IMMEDIATE', []],
])('the tables that %j writes', (sql, tables) => {
  expect(writtenTables(sql)).toEqual(tables);
  // The text is known now.
  expect(writtenTables(sql)).toEqual(tables);
});

test('an upsert writes its table, whatever else seems to be one', () => {
  expect(writtenTables('INSERT INTO a (x) VALUES (?) ON CONFLICT (x) DO UPDATE SET x = 1')).toContain('a');
});

test('every resource has a table of a name that is found', () => {
  const missed = RESOURCES.filter((resource) => {
    const table = tableOf(resource);
    return !writtenTables(`INSERT INTO ${table} (id) VALUES (1)`).includes(table);
  });
  expect(missed).toEqual([]);
});

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

test('a commit of a store drops the numbers of the tables it wrote, and no others; a failed write none that matter', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'molar-numbers-'));
  folders.push(folder);
  const store = await openSqliteStore(folder, { serving: true });
  const run = (sql: string) => store.write((tx) => tx.run({ sql, text: sql, values: [] }));
  try {
    const [patients, events] = [store.countCache('patients'), store.countCache('sequences')];
    await run("INSERT INTO sequences (org, type, last_id) VALUES (1, 'x', 1)");
    expect(store.countCache('patients')).toBe(patients);
    expect(store.countCache('sequences')).not.toBe(events);
    const after = store.countCache('sequences');
    await expect(run("INSERT INTO sequences (org, type, last_id) VALUES (1, 'x', 1)")).rejects.toThrow();
    await run("UPDATE sequences SET last_id = 2 WHERE type = 'x'");
    expect(store.countCache('sequences')).not.toBe(after);
    expect(store.countCache('patients')).toBe(patients);
    await store.appendLogs([]);
    expect(store.countCache('patients')).toBe(patients);
  } finally {
    await store.close();
  }
});

/** Inserts a row as a request does, and as an import does, on a connection of its own. */
const WRITES: [string, (store: Store, sql: string) => Promise<unknown>][] = [
  ['a write', (store, sql) => store.write((tx) => tx.run({ sql, text: sql, values: [] }))],
  [
    'a bulk load',
    (store, sql) =>
      store.write(async (tx) => {
        const { restore } = await tx.beginBulkLoad(['sequences']);
        await tx.run({ sql, text: sql, values: [] });
        await restore();
      }),
  ],
];

test.each(WRITES)(
  'what another process commits drops all numbers, also when %s of ours comes right after it',
  async (_, write) => {
    const folder = mkdtempSync(join(tmpdir(), 'molar-numbers-'));
    folders.push(folder);
    const store = await openSqliteStore(folder, { serving: true });
    const other = openConnection(join(folder, 'molar.sqlite'));
    const insert = (type: string) => `INSERT INTO sequences (org, type, last_id) VALUES (1, '${type}', 1)`;
    try {
      const first = store.countCache('patients');
      other.exec(insert('a'));
      const second = store.countCache('patients');
      expect(second).not.toBe(first);
      other.exec(insert('b'));
      await write(store, insert('c'));
      const third = ['patients', 'sequences'].map((table) => store.countCache(table));
      expect(third[0]).not.toBe(second);
      await write(store, insert('d'));
      expect(store.countCache('patients')).toBe(third[0]);
      expect(store.countCache('sequences')).not.toBe(third[1]);
    } finally {
      other.close();
      await store.close();
    }
  },
);
