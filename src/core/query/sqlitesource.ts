import type { Connection } from '../../sqlite/open.ts';
import { SqliteDatabase } from '../mirror/sqlite/database.ts';
import type { MirrorFacts } from '../mirror/store.ts';
import type { RowPage } from '../pages/page.ts';
import {
  type MirrorSource,
  type PageReader,
  pageRows,
  rebuilderOf,
  SOURCE_PAGE,
  withoutRecords,
} from './mirrorsource.ts';
import type { MirroredTable } from './mirrortables.ts';
import { sqliteFault } from './sqlitefault.ts';
import { mirroredTables, mirrorFacts, openReadOnly } from './sqliteopen.ts';

/** The records of a mirror in a file. */
export class SqliteSource implements MirrorSource {
  private constructor(
    private readonly connection: Connection,
    readonly tables: readonly MirroredTable[],
    private readonly facts: MirrorFacts | undefined,
  ) {}

  /** Opens the mirror in a file of SQLite. Throws a QueryFault. */
  static async open(file: string): Promise<SqliteSource> {
    const connection = openReadOnly(file);
    try {
      connection.exec('BEGIN');
      return new SqliteSource(connection, mirroredTables(connection), await mirrorFacts(connection));
    } catch (cause) {
      const fault = sqliteFault(cause, '', connection);
      connection.close();
      throw fault;
    }
  }

  get isDeidentified(): boolean {
    return Boolean(this.facts?.deidentified);
  }

  async *pages({ tableName }: MirroredTable, read?: PageReader): AsyncGenerator<RowPage> {
    const rebuilder = rebuilderOf(tableName, this.facts, SqliteDatabase.over(this.connection));
    if (rebuilder !== undefined) {
      for await (const page of rebuilder.pages()) yield { rows: pageRows(page, read) };
      return;
    }
    const sql = `SELECT _record FROM "${tableName.replaceAll('"', '""')}" ORDER BY id`;
    try {
      let page: string[] = [];
      for (const record of this.connection.prepare(sql).pluck().iterate() as IterableIterator<string | null>) {
        if (record === null) throw withoutRecords(tableName);
        page.push(record);
        if (page.length < SOURCE_PAGE) continue;
        yield { rows: pageRows(page, read) };
        page = [];
      }
      if (page.length > 0) yield { rows: pageRows(page, read) };
    } catch (cause) {
      throw sqliteFault(cause, sql, this.connection);
    }
  }

  async close(): Promise<void> {
    this.connection.close();
  }
}
