import sql, { raw } from 'sql-template-tag';
import type { Reader } from '../../store/store.ts';

/** Records read at once: bounds memory however large a table is. */
export const PAGE = 500;

/** The keys of organizations that a table has rows of, found by its index: one step for each. */
export async function orgsOf(read: Reader, table: string): Promise<number[]> {
  const orgs: number[] = [];
  for (let last: number | null = null; ; ) {
    const row: { org: number | null } | undefined = await read.get<{ org: number | null }>(
      last === null
        ? sql`SELECT MIN(org) AS org FROM ${raw(table)}`
        : sql`SELECT MIN(org) AS org FROM ${raw(table)} WHERE org > ${last}`,
    );
    if (row === undefined || row.org === null) return orgs;
    last = row.org;
    orgs.push(last);
  }
}

/** Some records of one organization, ascending, and the range of ids that they stand for: above `after`, up to `upTo`. */
export interface RecordPage<T> {
  readonly org: number;
  readonly rows: readonly T[];
  readonly after: number;
  /** Undefined on the last page: nothing follows, so every id above `after` is meant. */
  readonly upTo: number | undefined;
}

/** All records of a table by organization and id; each organization ends with a page that reaches beyond every id. */
export async function* recordPages<T extends { readonly id: number }>(
  read: Reader,
  table: string,
  columns: readonly string[],
  orgs: readonly number[],
): AsyncGenerator<RecordPage<T>> {
  for (const org of orgs) {
    for (let after = 0; ; ) {
      const rows = await read.all<T>(
        sql`SELECT ${raw(columns.join(', '))} FROM ${raw(table)} WHERE org = ${org} AND id > ${after} ORDER BY id LIMIT ${PAGE}`,
      );
      const last = rows.length < PAGE;
      yield { org, rows, after, upTo: last ? undefined : rows.at(-1)?.id };
      if (last) break;
      after = rows.at(-1)?.id ?? after;
    }
  }
}

/** The condition that a column is in the range of a page. */
export function within(column: string, { after, upTo }: Pick<RecordPage<unknown>, 'after' | 'upTo'>) {
  const above = sql`${raw(column)} > ${after}`;
  return upTo === undefined ? above : sql`${above} AND ${raw(column)} <= ${upTo}`;
}
