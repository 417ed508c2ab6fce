import { quoted } from '../names.ts';
import { recordOf } from '../records.ts';
import type { TableRows } from '../rows.ts';
import { type MirrorColumn, OWN_COLUMNS, RECORD, SYNCED_AT } from '../tables.ts';
import type { StoredValue } from '../values.ts';
import type { MirrorDatabase, TableWriter, Target } from './database.ts';

/** Rows that are filled at a time. */
const BATCH = 1000;

/**
 * Writes what records say of a new column: an earlier run may have been kept from adding it. The latest versions get it
 * too. To be used within a transaction.
 */
export async function fillColumn(
  database: MirrorDatabase,
  rows: TableRows,
  writer: Pick<TableWriter, 'textsOf'>,
  { name, type, field }: MirrorColumn,
  hasHistory: boolean,
): Promise<void> {
  const at = rows.columns.findIndex((column) => column.name === name);
  const targets: Target[] = [{ name: 'id', type: 'integer' }, { name, type }, ...OWN_COLUMNS];
  const [column, own] = [quoted(name), quoted(rows.table.name)];
  for (let after = '0'; ; ) {
    const found = await database.rows<{ id: string; synced: string }>(
      `SELECT CAST(t.id AS TEXT) AS id, ${SYNCED_AT} AS synced FROM ${own} AS t
      WHERE t.id > CAST(:after AS BIGINT) AND ${column} IS NULL AND ${database.dialect.hasMember(RECORD, ':field')}
      ORDER BY t.id LIMIT ${BATCH}`,
      { after, field },
    );
    const last = found.at(-1);
    if (last === undefined) break;
    after = last.id;
    const texts = await writer.textsOf(found.map(({ id }) => id));
    const values = found.map(({ id, synced }) => {
      const text = texts.get(id) ?? '';
      return [BigInt(id), rows.rowsOf(recordOf(text)).values[at] as StoredValue, synced, text];
    });
    await database.insert(own, targets, values, { key: ['id'] });
  }
  if (!hasHistory) return;
  await database.run(
    `UPDATE ${quoted(`${rows.table.name}_history`)} AS h SET ${column} = t.${column} FROM ${own} AS t
    WHERE h.id = t.id AND h._valid_to IS NULL AND h.${column} IS NULL AND t.${column} IS NOT NULL`,
  );
}
