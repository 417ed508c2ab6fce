import type { ScanFormat } from '../jsonscan/scanformats.ts';
import type { MirrorDatabase } from '../mirror/sql/database.ts';
import { RecordRebuilder } from '../mirror/sql/recordrebuilder.ts';
import { chosenTable } from '../mirror/sql/tableset.ts';
import type { MirrorFacts } from '../mirror/store.ts';
import { findTable } from '../mirror/tables.ts';
import type { RowPage } from '../pages/page.ts';
import { bodyText, readEnvelope } from '../transport/envelope.ts';
import { QueryFault } from './fault.ts';
import type { MirroredTable } from './mirrortables.ts';

/** Makes rows of the bytes of a page, as of one that the service sends. */
export type PageReader = ScanFormat['read'];

/** The records of a mirror at one moment: what is synced meanwhile is not seen. */
export interface MirrorSource {
  /** What is mirrored. */
  readonly tables: readonly MirroredTable[];
  /** Whether its dates and instants are years, and its records those that its columns make (D52). */
  readonly isDeidentified: boolean;
  /** The records of a resource as they came, in the order of their ids. Throws a QueryFault. */
  pages(table: MirroredTable, read?: PageReader): AsyncGenerator<RowPage>;
  close(): Promise<void>;
}

/** Records of a page. */
export const SOURCE_PAGE = 500;

/** The rows of a page with these records, JSON. Throws a QueryFault. */
export function pageRows(
  records: readonly string[],
  read: PageReader = (body) => readEnvelope(bodyText(body)),
): RowPage['rows'] {
  const rows = read(Buffer.from(`{"data":[${records.join(',')}]}`))?.data;
  if (Array.isArray(rows)) return rows;
  throw new QueryFault({ kind: 'file', message: 'A record in the mirror is no JSON' });
}

/** The fault of a table whose records cannot be given as they came. */
export function withoutRecords(tableName: string): QueryFault {
  return new QueryFault({ kind: 'sql', message: `${tableName} keeps no records, only columns` });
}

/** Makes the records of a table again, in a de-identified copy; undefined in any other, which has them as they came. */
export function rebuilderOf(
  tableName: string,
  facts: MirrorFacts | undefined,
  database: MirrorDatabase,
): RecordRebuilder | undefined {
  const table = facts?.deidentified && findTable(tableName);
  return table ? new RecordRebuilder(database, chosenTable(table, facts)) : undefined;
}
