import type { Connection } from './open.ts';
import { writeStatistics } from './statistics.ts';

interface IndexRow {
  readonly name: string;
  readonly sql: string;
}

/**
 * Drops the plain indexes of tables that are still empty and returns how to make them again. Filling a table and then
 * building its indexes takes a fraction of keeping them up to date row by row. Unique indexes stay: they guard rules.
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
    // What the planner was told of an index went with it.
    writeStatistics(connection);
  };
}

export function isEmpty(connection: Connection, table: string): boolean {
  return connection.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() === undefined;
}
