import sql from 'sql-template-tag';
import type { Dialect } from '../migrations/dialects.ts';
import type { Reader } from '../store.ts';
import { readFingerprint } from './state.ts';

/** A table as the database itself describes it. */
export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns of the primary key, in its order. */
  readonly key: readonly string[];
  /** Columns outside the key without which no row can be inserted. */
  readonly needed: readonly string[];
}

/** The schema of a database: tables by name, names of indexes, the last migration, and what the tables of resources follow. */
export interface DatabaseSchema {
  readonly version: number;
  /** Undefined while the tables of resources are not known to follow any catalog. */
  readonly fingerprint: string | undefined;
  readonly tables: readonly Table[];
  readonly indexes: readonly string[];
}

/** The table of migrations: each store's own, and no content. */
export const MIGRATIONS_TABLE = 'schema_migrations';

/** Reads the schema; version 0 and no tables where there is none. */
export async function readSchema(read: Reader, dialect: Dialect): Promise<DatabaseSchema> {
  const columns = await read.all<ColumnRow>(COLUMNS[dialect]);
  const indexes = await read.all<{ name: string }>(INDEXES[dialect]);
  const tables = new Map<string, ColumnRow[]>();
  for (const column of columns) tables.set(column.table_name, [...(tables.get(column.table_name) ?? []), column]);
  return {
    version: tables.has(MIGRATIONS_TABLE) ? await readVersion(read) : 0,
    fingerprint: tables.has('schema_state') ? await readFingerprint(read) : undefined,
    tables: [...tables].map(([name, found]) => ({
      name,
      columns: found.map((column) => column.name),
      key: found
        .filter(({ key_place }) => key_place > 0)
        .sort((a, b) => a.key_place - b.key_place)
        .map((column) => column.name),
      needed: found.filter(({ key_place, needed }) => key_place === 0 && needed === 1).map((column) => column.name),
    })),
    indexes: indexes.map(({ name }) => name),
  };
}

/** Whether the schema has a table: for who needs to know no more of it, since to read all of it takes much longer. */
export async function hasTable(read: Reader, dialect: Dialect, name: string): Promise<boolean> {
  const found =
    dialect === 'sqlite'
      ? sql`SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = ${name}`
      : sql`SELECT 1 AS found FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
          WHERE t.relname = ${name} AND n.nspname = current_schema() AND t.relkind IN ('r', 'p')`;
  return (await read.get(found)) !== undefined;
}

/** Something of a SQLite database that acts or answers by itself. */
export interface Program {
  readonly type: 'trigger' | 'view';
  readonly name: string;
}

/** Finds each `Program` of a SQLite database: molar makes none, and a trigger acts on every write of whoever serves it. */
export const PROGRAMS = sql`SELECT type, name FROM sqlite_master WHERE type NOT IN ('table', 'index') ORDER BY name`;

interface ColumnRow {
  readonly table_name: string;
  readonly name: string;
  /** Position in the primary key from 1 on, 0 outside it. */
  readonly key_place: number;
  /** 1 where it is NOT NULL and has no default. */
  readonly needed: number;
}

const COLUMNS = {
  sqlite: sql`SELECT t.name AS table_name, c.name, c.pk AS key_place,
      (c."notnull" = 1 AND c.dflt_value IS NULL) AS needed
    FROM sqlite_master t, pragma_table_info(t.name) c
    WHERE t.type = 'table' AND substr(t.name, 1, 7) <> 'sqlite_' ORDER BY t.name, c.cid`,
  postgres: sql`SELECT t.relname AS table_name, a.attname AS name,
      COALESCE(array_position(i.indkey::int2[], a.attnum) + 1, 0) AS key_place,
      CASE WHEN a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' THEN 1 ELSE 0 END AS needed
    FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_index i ON i.indrelid = t.oid AND i.indisprimary
    WHERE n.nspname = current_schema() AND t.relkind IN ('r', 'p') ORDER BY t.relname COLLATE "C", a.attnum`,
};

const INDEXES = {
  sqlite: sql`SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name`,
  // What a build that was killed has left is no index: nothing is found by it.
  postgres: sql`SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = current_schema() AND i.indisvalid ORDER BY c.relname`,
};

async function readVersion(read: Reader): Promise<number> {
  const row = await read.get<{ version: number | null }>(sql`SELECT MAX(version) AS version FROM schema_migrations`);
  return row?.version ?? 0;
}
