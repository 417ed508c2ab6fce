import type { Connection } from '../../../sqlite/open.ts';
import type { MirroredDocument } from '../store.ts';
import type { MirrorColumn } from '../tables.ts';

/** Some documents above an id, by id; `columns`: those that the table has. */
export function documentsAfter(
  connection: Connection,
  columns: readonly MirrorColumn[],
  after: bigint | number,
  limit: number,
): MirroredDocument[] {
  const of = (name: string) => (columns.some((column) => column.name === name) ? name : 'NULL');
  return connection
    .prepare<[bigint | number], MirroredDocument>(
      `SELECT CAST(id AS TEXT) AS id, ${of('name')} AS name, ${of('guid_name')} AS guid FROM documents
      WHERE documents.id > ? ORDER BY documents.id LIMIT ${limit}`,
    )
    .all(after);
}
