import { linkedKind } from '../../names/namecolumns.ts';
import { keyOf, type NameRow, nameId, unnamed } from '../../names/namerows.ts';
import { quoted } from '../names.ts';
import { MIRROR_TABLES, RECORD } from '../tables.ts';
import type { MirrorDatabase } from './database.ts';

/**
 * The ids of locations, providers and operatories that the records of a mirror show, a row each; undefined for a mirror
 * that keeps no records as they came, whose ids may be others.
 */
export async function linkedIds(database: MirrorDatabase): Promise<NameRow[] | undefined> {
  const found = new Map<string, NameRow>();
  for (const { name, resource, columns } of MIRROR_TABLES) {
    const existing = await database.rows<{ name: string }>(database.dialect.tableColumns, { name });
    const there = new Set(existing.map((column) => column.name));
    const [bare] = await database.rows(
      `SELECT 1 AS bare FROM (SELECT ${quoted(RECORD)} AS record FROM ${quoted(name)} LIMIT 1) AS t WHERE record IS NULL`,
    );
    if (bare !== undefined) return undefined;
    for (const column of columns) {
      const kind = column.isLink === true ? linkedKind(column.path[0] ?? '', resource.fields) : undefined;
      if (kind === undefined || !there.has(column.name)) continue;
      const rows = await database.rows<{ id: string | null }>(
        `SELECT DISTINCT CAST(${quoted(column.name)} AS TEXT) AS id FROM ${quoted(name)}`,
      );
      for (const { id: value } of rows) {
        const id = nameId(value ?? '');
        if (id !== undefined) found.set(keyOf({ kind, id }), unnamed({ kind, id }));
      }
    }
  }
  return [...found.values()];
}
