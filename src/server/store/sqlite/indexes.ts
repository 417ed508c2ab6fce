import type { Connection } from '../../../sqlite/open.ts';
import { SCHEMA, type Schema } from '../schema/schema.ts';

interface IndexRow {
  readonly name: string;
  readonly sql: string;
}

/**
 * Drops the plain indexes of tables that are still empty and returns how to make them again. Filling a table and then
 * building its indexes takes a fraction of the time of updating them row by row. Unique indexes stay: they guard rules.
 */
export function suspendIndexes(connection: Connection, tables: readonly string[]): () => void {
  const dropped: IndexRow[] = [];
  for (const table of tables) {
    if (!isEmpty(connection, table)) continue;
    const rows = connection
      .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql LIKE 'CREATE INDEX%'")
      .all(table) as IndexRow[];
    for (const row of rows) connection.exec(`DROP INDEX ${row.name}`);
    dropped.push(...rows);
  }
  return () => {
    for (const { sql } of dropped) connection.exec(sql);
    // Statistics of an index were dropped with it.
    writeStatistics(connection);
  };
}

export function isEmpty(connection: Connection, table: string): boolean {
  return connection.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() === undefined;
}

/** Rows of a large table: the figure for every table, so that plans stay good as it grows. */
const ROWS = 1_000_000;
/** Rows that share a value: of a column with few values, and of one with many. */
const SHARED_BY_FEW = 20_000;
const SHARED_BY_MANY = 20;

/** Columns with few values of tables that are no resources. */
const FEW_VALUES_OF: Readonly<Record<string, readonly string[]>> = {
  ledger: ['location_id'],
  sequences: ['type'],
  reference_records: ['type'],
};

interface IndexInfo {
  readonly name: string;
  readonly origin: string;
  readonly unique: number;
}

/**
 * Writes planner statistics that only the schema's author knows: all rows of a table may belong to one organization, so the
 * leading `org` of every index narrows nothing. Without them SQLite takes an index that is led by `org` alone for a good
 * one. The figures are fixed, so plans do not change with the data. Stream messages have none: those of one organization
 * are to be found by its index however few they are. Runs inside a write.
 */
export function writeStatistics(connection: Connection, schema = SCHEMA): void {
  const wanted = statistics(connection, schema);
  if (JSON.stringify(stored(connection)) === JSON.stringify(wanted)) return;
  // Analysing the smallest table makes the table of statistics where there is none.
  connection.exec('ANALYZE schema_migrations');
  connection.exec('DELETE FROM sqlite_stat1');
  const insert = connection.prepare('INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)');
  for (const { tbl, idx, stat } of wanted) insert.run(tbl, idx, stat);
  connection.exec('ANALYZE sqlite_schema');
}

function stored(connection: Connection): unknown[] {
  const exists = connection.prepare("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'").get();
  return exists === undefined
    ? []
    : connection.prepare('SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY tbl, idx').all();
}

function statistics(connection: Connection, { layouts }: Schema) {
  const few = new Map(
    layouts.map(({ table, columns }) => [table, columns.filter((column) => column.fewValues).map(({ name }) => name)]),
  );
  const tables = connection
    .prepare(
      "SELECT name, sql LIKE '%WITHOUT ROWID%' AS keyed FROM sqlite_master WHERE type = 'table' AND sql LIKE '%org INTEGER NOT NULL%' AND name NOT IN ('ledger_changes', 'stream_messages', 'schema_backfills', 'schema_repairs')",
    )
    .all() as { name: string; keyed: number }[];
  const rows = tables.flatMap(({ name, keyed }) =>
    (connection.pragma(`index_list(${name})`) as IndexInfo[]).map((index) => ({
      tbl: name,
      // The planner knows the primary key of a table without row ids by the name of the table.
      idx: keyed && index.origin === 'pk' ? name : index.name,
      stat: figures(connection, index, few.get(name) ?? FEW_VALUES_OF[name] ?? []),
    })),
  );
  return rows.sort((a, b) => compare(a.tbl, b.tbl) || compare(a.idx, b.idx));
}

function figures(connection: Connection, index: IndexInfo, few: readonly string[]): string {
  const columns = (connection.pragma(`index_info(${index.name})`) as { name: string }[]).map(({ name }) => name);
  let shared = ROWS;
  const counts = columns.map((column, place) => {
    const last = place === columns.length - 1;
    if (column !== 'org') shared = Math.min(shared, few.includes(column) ? SHARED_BY_FEW : SHARED_BY_MANY);
    return last && (index.unique || column === 'id') ? 1 : shared;
  });
  return [ROWS, ...counts].join(' ');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
