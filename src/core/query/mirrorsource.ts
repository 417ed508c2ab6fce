import type { Connection } from '../../sqlite/open.ts';
import type { ScanFormat } from '../jsonscan/scanformats.ts';
import { RecordRebuilder } from '../mirror/sqlite/recordrebuilder.ts';
import { chosenTable } from '../mirror/sqlite/tableset.ts';
import type { MirrorFacts } from '../mirror/store.ts';
import { findTable } from '../mirror/tables.ts';
import type { RowPage } from '../pages/page.ts';
import { bodyText, type Envelope, readEnvelope } from '../transport/envelope.ts';
import { QueryFault } from './fault.ts';
import type { MirroredTable } from './mirrortables.ts';
import { sqliteFault } from './sqlitefault.ts';
import { mirroredTables, mirrorFacts, openReadOnly } from './sqliteopen.ts';

/** Records of a page. */
const PAGE = 500;

/** The records of a mirror at one moment: what is synced meanwhile is not seen. */
export class MirrorSource {
  /** What is mirrored. */
  readonly tables: readonly MirroredTable[];
  private readonly connection: Connection;
  private readonly facts: MirrorFacts | undefined;

  /** Opens the mirror in a file of SQLite. Throws a QueryFault. */
  constructor(file: string) {
    this.connection = openReadOnly(file);
    try {
      this.connection.exec('BEGIN');
      this.tables = mirroredTables(this.connection);
      this.facts = mirrorFacts(this.connection);
    } catch (cause) {
      const fault = sqliteFault(cause, '', this.connection);
      this.close();
      throw fault;
    }
  }

  /**
   * The records of a resource as they came, in the order of their ids. `read` makes rows of the bytes of a page, as of
   * one that the service sends. Throws a QueryFault.
   */
  async *pages(
    { tableName }: MirroredTable,
    read: ScanFormat['read'] = (body) => readEnvelope(bodyText(body)),
  ): AsyncGenerator<RowPage> {
    const table = this.facts?.deidentified && findTable(tableName);
    if (table) {
      const rebuilder = new RecordRebuilder(this.connection, chosenTable(table, this.facts));
      for (const page of rebuilder.pages()) yield { rows: rowsOf(page, read) };
      return;
    }
    const sql = `SELECT _record FROM "${tableName.replaceAll('"', '""')}" ORDER BY id`;
    try {
      let page: string[] = [];
      for (const record of this.connection.prepare(sql).pluck().iterate() as IterableIterator<string | null>) {
        if (record === null)
          throw new QueryFault({ kind: 'sql', message: `${tableName} keeps no records, only columns` });
        page.push(record);
        if (page.length < PAGE) continue;
        yield { rows: rowsOf(page, read) };
        page = [];
      }
      if (page.length > 0) yield { rows: rowsOf(page, read) };
    } catch (cause) {
      throw sqliteFault(cause, sql, this.connection);
    }
  }

  /** Whether its dates and instants are years, and its records those that its columns make (D52). */
  get isDeidentified(): boolean {
    return Boolean(this.facts?.deidentified);
  }

  close(): void {
    this.connection.close();
  }
}

function rowsOf(records: readonly string[], read: (body: Uint8Array) => Envelope | undefined): RowPage['rows'] {
  const rows = read(Buffer.from(`{"data":[${records.join(',')}]}`))?.data;
  if (Array.isArray(rows)) return rows;
  throw new QueryFault({ kind: 'file', message: 'A record in the mirror is no JSON' });
}
