import sql, { raw, type Sql } from 'sql-template-tag';
import { existingIds } from '../../references.ts';
import { type LinkTargets, pagesOf, tableOfKind } from '../links.ts';
import type { StagedLines } from './stagedlines.ts';

/** The records that there will be when an import is published: staged ones, and stored ones that no line deletes. */
export function stagedTargets(lines: StagedLines): LinkTargets {
  const own = sql`s.import = ${lines.name}`;
  /** A staged line about the record of a row with `org` and `id`. */
  const lineOf = (type: string, row: Sql) =>
    sql`SELECT 1 FROM import_lines s WHERE ${own} AND s.org = ${row}.org AND s.type = ${type} AND s.id = ${row}.id`;
  return {
    async existing(org, target, ids) {
      const stored = await existingIds(lines, { org }, target, ids);
      const named = await lines.named(org, target, ids);
      for (const id of named) {
        if ((await lines.find(org, target, id))?.record === null) stored.delete(id);
        else stored.add(id);
      }
      return stored;
    },
    whereExists: (target, link) => sql`(EXISTS (${lineOf(target, link)} AND s.record IS NOT NULL)
      OR (EXISTS (SELECT 1 FROM ${tableOfKind(target, 'f')} AND f.org = ${link}.org AND f.id = ${link}.id)
        AND NOT EXISTS (${lineOf(target, link)} AND s.record IS NULL)))`,
    recordsOf(org, { type }) {
      const stored = sql`FROM ${tableOfKind(type, 'r')} AND NOT EXISTS (${lineOf(type, raw('r'))})`;
      const staged = sql`FROM (SELECT org, id, record AS json FROM import_lines s
        WHERE ${own} AND s.type = ${type} AND s.record IS NOT NULL) AS r WHERE true`;
      return merged(pagesOf(lines, org, stored), pagesOf(lines, org, staged));
    },
  };
}

/** The records of two sources, each in the order of their ids, in that order. */
async function* merged<T extends { readonly id: number }>(
  a: AsyncGenerator<T>,
  b: AsyncGenerator<T>,
): AsyncGenerator<T> {
  let [first, second] = [await a.next(), await b.next()];
  while (!(first.done && second.done)) {
    if (second.done || (!first.done && first.value.id < second.value.id)) {
      yield first.value;
      first = await a.next();
    } else {
      yield second.value;
      second = await b.next();
    }
  }
}
