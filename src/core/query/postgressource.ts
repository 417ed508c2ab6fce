import type { Client } from 'pg';
import { Portal } from '../../postgres/portal.ts';
import { quoted } from '../mirror/names.ts';
import type { DatabasePlace } from '../mirror/place.ts';
import type { PostgresDatabase } from '../mirror/postgres/database.ts';
import { withoutBlanks } from '../mirror/postgres/values.ts';
import { readFacts } from '../mirror/sql/state.ts';
import type { MirrorFacts } from '../mirror/store.ts';
import { findTable } from '../mirror/tables.ts';
import type { RowPage } from '../pages/page.ts';
import { inOrder } from './fieldorder.ts';
import {
  type MirrorSource,
  type PageReader,
  pageRows,
  rebuilderOf,
  SOURCE_PAGE,
  withoutRecords,
} from './mirrorsource.ts';
import type { MirroredTable } from './mirrortables.ts';
import { postgresFault } from './postgresfault.ts';
import { openReading } from './postgresopen.ts';

/** The records of a mirror in PostgreSQL. */
export class PostgresSource implements MirrorSource {
  private constructor(
    private readonly place: DatabasePlace,
    private readonly client: Client,
    readonly tables: readonly MirroredTable[],
    private readonly database: PostgresDatabase,
    private readonly facts: MirrorFacts | undefined,
  ) {}

  /** Opens the mirror in a schema. Throws a QueryFault or a Failure. */
  static async open(place: DatabasePlace): Promise<PostgresSource> {
    const { client, database, mirrored } = await openReading(place);
    return new PostgresSource(place, client, mirrored, database, (await readFacts(database)).facts);
  }

  get isDeidentified(): boolean {
    return Boolean(this.facts?.deidentified);
  }

  async *pages({ tableName }: MirroredTable, read?: PageReader): AsyncGenerator<RowPage> {
    const rebuilder = rebuilderOf(tableName, this.facts, this.database);
    if (rebuilder !== undefined) {
      for await (const page of rebuilder.pages()) yield { rows: pageRows(page, read) };
      return;
    }
    const fields = findTable(tableName)?.resource.fields ?? {};
    const sql = `SELECT CAST(_record AS text) FROM ${quoted(tableName)} ORDER BY id`;
    try {
      const portal = await Portal.open(this.client, sql, []);
      try {
        for (;;) {
          const rows = await portal.next(SOURCE_PAGE);
          if (rows.length === 0) return;
          const records = rows.map(([record]) => {
            if (record == null) throw withoutRecords(tableName);
            return inOrder(withoutBlanks(record), fields);
          });
          yield { rows: pageRows(records, read) };
        }
      } finally {
        await portal.close();
      }
    } catch (cause) {
      throw await postgresFault(cause, { place: this.place, client: this.client, sql });
    }
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }
}
