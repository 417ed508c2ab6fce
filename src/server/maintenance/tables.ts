import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sql from 'sql-template-tag';
import type { Dialect } from '../store/migrations/migrate.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import type { Reader } from '../store/store.ts';

/** A table as the database itself tells of it. */
export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns of the primary key, in its order. */
  readonly key: readonly string[];
}

/** The schema of a database: tables by name, names of indexes, and the last migration that was run. */
export interface Schema {
  readonly version: number;
  readonly tables: readonly Table[];
  readonly indexes: readonly string[];
}

/** What was run to make the tables: says the same in every store, and is no content. */
export const MIGRATIONS_TABLE = 'schema_migrations';

/** Tables that say something of this moment and this store only: what servers agree about, and what was migrated. */
const OWN_TABLES = new Set([MIGRATIONS_TABLE, 'leases', 'rate_buckets']);

/** The tables whose rows are the content of a store: what a backup and a migration carry over. */
export function contentTables({ tables }: Schema): readonly Table[] {
  return tables.filter(({ name }) => !OWN_TABLES.has(name));
}

/** Reads the schema; version 0 and no tables where there is none. */
export async function readSchema(read: Reader, dialect: Dialect): Promise<Schema> {
  const columns = await read.all<ColumnRow>(COLUMNS[dialect]);
  const indexes = await read.all<{ name: string }>(INDEXES[dialect]);
  const tables = new Map<string, { names: string[]; key: { name: string; place: number }[] }>();
  for (const { table_name, name, place } of columns) {
    const table = tables.get(table_name) ?? { names: [], key: [] };
    tables.set(table_name, table);
    table.names.push(name);
    if (place > 0) table.key.push({ name, place });
  }
  return {
    version: tables.has(MIGRATIONS_TABLE) ? await readVersion(read) : 0,
    tables: [...tables].map(([name, { names, key }]) => ({
      name,
      columns: names,
      key: key.sort((a, b) => a.place - b.place).map((column) => column.name),
    })),
    indexes: indexes.map(({ name }) => name),
  };
}

interface ColumnRow {
  readonly table_name: string;
  readonly name: string;
  /** Place in the primary key from 1 on, 0 outside it. */
  readonly place: number;
}

const COLUMNS = {
  sqlite: sql`SELECT t.name AS table_name, c.name, c.pk AS place FROM sqlite_master t, pragma_table_info(t.name) c
    WHERE t.type = 'table' AND substr(t.name, 1, 7) <> 'sqlite_' ORDER BY t.name, c.cid`,
  postgres: sql`SELECT t.relname AS table_name, a.attname AS name,
      COALESCE(array_position(i.indkey::int2[], a.attnum) + 1, 0) AS place
    FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_index i ON i.indrelid = t.oid AND i.indisprimary
    WHERE n.nspname = current_schema() AND t.relkind IN ('r', 'p') ORDER BY t.relname COLLATE "C", a.attnum`,
};

const INDEXES = {
  sqlite: sql`SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name`,
  postgres: sql`SELECT indexname AS name FROM pg_indexes WHERE schemaname = current_schema() ORDER BY indexname`,
};

async function readVersion(read: Reader): Promise<number> {
  const row = await read.get<{ version: number | null }>(sql`SELECT MAX(version) AS version FROM schema_migrations`);
  return row?.version ?? 0;
}

/** The schema that this molar makes: read from a database that it has just made. */
export async function ownSchema(): Promise<Schema> {
  const folder = await mkdtemp(join(tmpdir(), 'molar-schema-'));
  try {
    const store = await openSqliteStore(folder, { serving: false });
    try {
      return await readSchema(store.read, 'sqlite');
    } finally {
      await store.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
