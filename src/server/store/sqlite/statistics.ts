import type { Connection } from './open.ts';

/** Rows of a large table: what the planner is told of every table, so that its plans are those that last. */
const ROWS = 1_000_000;
/** Rows that share a value of a column with few values, and of any other. */
const FEW_VALUES = 20_000;
const MANY_VALUES = 20;

const COARSE = new Set([
  'location_id',
  'preferred_location_id',
  'patient_status',
  'provider_id',
  'operatory_id',
  'tag_type',
  'type',
]);

interface IndexInfo {
  readonly name: string;
  readonly origin: string;
  readonly unique: number;
}

/**
 * Tells the planner what only the schema's author knows: all rows of a table may belong to one organization, so the
 * leading `org` of every index narrows nothing. Without it SQLite takes an index that is led by `org` alone for a
 * good one. The figures are fixed, so plans do not change with the data. Nothing is told of stream messages: those of
 * one organization are to be found by its index however few they are. Runs inside a write.
 */
export function writeStatistics(connection: Connection): void {
  const wanted = statistics(connection);
  if (JSON.stringify(kept(connection)) === JSON.stringify(wanted)) return;
  // Analysing the smallest table makes the table of statistics where there is none.
  connection.exec('ANALYZE schema_migrations');
  connection.exec('DELETE FROM sqlite_stat1');
  const insert = connection.prepare('INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)');
  for (const { tbl, idx, stat } of wanted) insert.run(tbl, idx, stat);
  connection.exec('ANALYZE sqlite_schema');
}

function kept(connection: Connection): unknown[] {
  const exists = connection.prepare("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'").get();
  return exists === undefined
    ? []
    : connection.prepare('SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY tbl, idx').all();
}

function statistics(connection: Connection) {
  const tables = connection
    .prepare(
      "SELECT name, sql LIKE '%WITHOUT ROWID%' AS keyed FROM sqlite_master WHERE type = 'table' AND sql LIKE '%org INTEGER NOT NULL%' AND name NOT IN ('ledger_changes', 'stream_messages')",
    )
    .all() as { name: string; keyed: number }[];
  const rows = tables.flatMap(({ name, keyed }) =>
    (connection.pragma(`index_list(${name})`) as IndexInfo[]).map((index) => ({
      tbl: name,
      // The planner knows the primary key of a table without row ids by the name of the table.
      idx: keyed && index.origin === 'pk' ? name : index.name,
      stat: figures(connection, index),
    })),
  );
  return rows.sort((a, b) => compare(a.tbl, b.tbl) || compare(a.idx, b.idx));
}

function figures(connection: Connection, index: IndexInfo): string {
  const columns = (connection.pragma(`index_info(${index.name})`) as { name: string }[]).map(({ name }) => name);
  let shared = ROWS;
  const counts = columns.map((column, place) => {
    const last = place === columns.length - 1;
    if (column !== 'org') shared = Math.min(shared, COARSE.has(column) ? FEW_VALUES : MANY_VALUES);
    return last && (index.unique || column === 'id') ? 1 : shared;
  });
  return [ROWS, ...counts].join(' ');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
