import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { filterKeys, key } from '../../../../src/catalog/define.ts';
import { exactTextValue, yesNoValue } from '../../../../src/catalog/filter/values.ts';
import { EQUALS } from '../../../../src/catalog/operators.ts';
import { imageAttachments } from '../../../../src/catalog/resources/imageattachments.ts';
import { transactions } from '../../../../src/catalog/resources/transactions.ts';
import { openPostgresStore } from '../../../../src/server/store/postgres/store.ts';
import { SCHEMA, schemaOf, tableRecord } from '../../../../src/server/store/schema/schema.ts';
import { openSqliteStore } from '../../../../src/server/store/sqlite/store.ts';
import { openConnection } from '../../../../src/sqlite/open.ts';
import { onPostgres, postgresTest } from '../../../support/postgres.ts';

/** What molar made when every table was written by hand. */
const made = (store: 'sqlite' | 'postgres') => readFileSync(join(import.meta.dirname, `version5.${store}.sql`), 'utf8');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-derived-'));
});
afterEach(() => rm(folder, { recursive: true }));

interface Column {
  readonly name: string;
}

/** Columns of each table, and the texts of indexes and planner statistics, as SQLite has them. */
function sqliteSchema(path: string, script = '') {
  const connection = openConnection(join(path, 'molar.sqlite'));
  try {
    connection.exec(script);
    const all = (text: string) =>
      (connection.prepare(text).all() as { name: string; tbl: string; sql: string }[]).filter(({ tbl }) =>
        DERIVED.has(tbl),
      );
    const tables = all("SELECT name, tbl_name AS tbl FROM sqlite_master WHERE type = 'table'");
    return {
      tables: Object.fromEntries(
        tables.map(({ name }) => [
          name,
          (connection.pragma(`table_info(${name})`) as (Column & { cid: number })[])
            .map(({ cid: _, ...column }) => column)
            .sort(byName),
        ]),
      ),
      indexes: all(
        "SELECT sql, name, tbl_name AS tbl FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name",
      ).map(({ sql: text }) => text.replace(/\s+/g, ' ')),
      statistics: all('SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY tbl, idx'),
    };
  } finally {
    connection.close();
  }
}

const byName = (a: Column, b: Column) => (a.name < b.name ? -1 : 1);

/** The tables that follow from the catalog; migrations go on writing the others by hand. */
const DERIVED = new Set(SCHEMA.layouts.flatMap(({ table, sides }) => [table, ...sides.map((side) => side.table)]));

it('SQLite: the tables, indexes and planner statistics are those that were written by hand', async () => {
  const before = sqliteSchema(folder, made('sqlite'));
  const fresh = await mkdtemp(join(folder, 'fresh-'));
  await (await openSqliteStore(fresh, { serving: false })).close();
  expect(sqliteSchema(fresh)).toEqual(before);
});

it('SQLite: data of before keeps its tables and indexes as they are', async () => {
  const before = sqliteSchema(folder, made('sqlite'));
  const roots = () => {
    const connection = openConnection(join(folder, 'molar.sqlite'));
    const found = connection.prepare('SELECT name, tbl_name AS tbl, rootpage, sql FROM sqlite_master').all();
    connection.close();
    return (found as (Column & { tbl: string })[]).filter(({ tbl }) => DERIVED.has(tbl)).sort(byName);
  };
  const stored = roots();
  await (await openSqliteStore(folder, { serving: false })).close();
  expect(roots()).toEqual(stored);
  expect(sqliteSchema(folder).statistics).toEqual(before.statistics);
});

async function postgresSchema(client: pg.Client) {
  const columns = await client.query(
    `SELECT table_name, column_name, data_type, collation_name, is_nullable, column_default, is_identity
      FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY table_name, column_name`,
  );
  const indexes = await client.query(
    `SELECT tablename AS table_name, indexname, replace(indexdef, current_schema() || '.', '') AS text FROM pg_indexes
      WHERE schemaname = current_schema() ORDER BY indexname`,
  );
  const derived = (row: { table_name: string }) => DERIVED.has(row.table_name);
  return { columns: columns.rows.filter(derived), indexes: indexes.rows.filter(derived) };
}

postgresTest(
  'PostgreSQL: the tables and indexes are those that were written by hand, made anew or kept',
  async (own) => {
    await (await openPostgresStore(own.url)).close();
    const derived = await onPostgres(postgresSchema, own.url);
    await onPostgres(async (client) => {
      await client.query(`DROP SCHEMA ${own.schema} CASCADE; CREATE SCHEMA ${own.schema}`);
      await client.query(made('postgres'));
    }, own.url);
    const before = await onPostgres(postgresSchema, own.url);
    expect(derived).toEqual(before);
    await (await openPostgresStore(own.url)).close();
    expect(await onPostgres(postgresSchema, own.url)).toEqual(before);
  },
);

it('another key, field or index makes another schema', () => {
  const filters = (index: 'none' | 'present') =>
    filterKeys({ note: key(EQUALS, exactTextValue, 'Note', { index }), ...imageAttachments.filters });
  const schemas = [
    SCHEMA,
    schemaOf([imageAttachments]),
    schemaOf([{ ...imageAttachments, filters: filters('none') }]),
    schemaOf([{ ...imageAttachments, filters: filters('present') }]),
    schemaOf([{ ...imageAttachments, indexes: [{ keys: ['insuranceClaim.id', 'id'] }] }]),
  ];
  expect(new Set(schemas.map(({ fingerprint }) => fingerprint)).size).toBe(schemas.length);
});

it('a key for a column that the server has of its own takes it over', () => {
  const filters = filterKeys({ isActive: key(EQUALS, yesNoValue, 'Active'), ...transactions.filters });
  const [layout] = schemaOf([{ ...transactions, filters }]).layouts;
  const columns = layout?.columns.filter(({ name }) => name === 'is_active') ?? [];
  expect(columns.map(({ type, of }) => [type, of?.({ isActive: true }), of?.({ isActive: false })])).toEqual([
    ['INTEGER', 1, 0],
  ]);
});

it('an index whose name PostgreSQL would cut gets a shorter one of its own', () => {
  const long = (end: string) => ({
    ...imageAttachments,
    filters: filterKeys({ [`${'veryLongName'.repeat(6)}${end}`]: key(EQUALS, exactTextValue, 'Long') }),
  });
  const names = ['One', 'Two'].flatMap((end) =>
    schemaOf([long(end)]).layouts.flatMap((layout) => Object.keys(tableRecord(layout).indexes)),
  );
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name.length).toBeLessThanOrEqual(63);
});
