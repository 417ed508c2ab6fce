import { linkedKind } from '../../names/namecolumns.ts';
import { keyOf, type NameRow, nameId, unnamed } from '../../names/namerows.ts';
import { quoted } from '../names.ts';
import { MIRROR_TABLES, RECORD } from '../tables.ts';
import { guarded, openToRead } from './connection.ts';

/**
 * The ids of locations, providers and operatories that the records of a mirror show, a row each; undefined for a mirror
 * that keeps no records as they came, whose ids may be others. Throws a Failure with exit code 9.
 */
export function linkedIds(file: string): NameRow[] | undefined {
  const connection = openToRead(file);
  if (connection === undefined) return [];
  try {
    return guarded(file, () => {
      const found = new Map<string, NameRow>();
      for (const { name, resource, columns } of MIRROR_TABLES) {
        const there = new Set(
          (connection.pragma(`table_info(${quoted(name)})`) as { name: string }[]).map((c) => c.name),
        );
        const isBare = connection
          .prepare(`SELECT ${quoted(RECORD)} IS NULL FROM ${quoted(name)} LIMIT 1`)
          .pluck()
          .get();
        if (isBare === 1) return undefined;
        for (const column of columns) {
          const kind = column.isLink === true ? linkedKind(column.path[0] ?? '', resource.fields) : undefined;
          if (kind === undefined || !there.has(column.name)) continue;
          const distinct = `SELECT DISTINCT CAST(${quoted(column.name)} AS TEXT) FROM ${quoted(name)}`;
          for (const value of connection.prepare<[], string | null>(distinct).pluck().all()) {
            const id = nameId(value ?? '');
            if (id !== undefined) found.set(keyOf({ kind, id }), unnamed({ kind, id }));
          }
        }
      }
      return [...found.values()];
    });
  } finally {
    connection.close();
  }
}
