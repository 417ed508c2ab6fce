import sql, { raw } from 'sql-template-tag';
import { folded, isRange, rangedColumn } from './conditions.ts';
import { tableOf } from './layout.ts';
import { isFoundAtOnce, isNarrow, type RecordQuery } from './roads.ts';
import { asideOf, type Reader } from './store.ts';

/** Records that a page may pass over, or one statement look at, in some milliseconds. */
const LIGHT = 2000;

/** A range of no more records is read whole by its index for a page that begins behind many. */
export const FEW_FOR_DEEP = 50_000;

/** The order and the beginning of a page, as far as they tell what it costs. */
interface Asked {
  readonly offset: number;
  readonly order?: unknown;
}

/** The reader of a page: one aside where a statement may take long, since it passes over many records, or sorts them. */
export async function readerFor(read: Reader, query: RecordQuery, { offset, order }: Asked): Promise<Reader> {
  if (read.aside === undefined) return read;
  const isSorted = typeof order === 'object' || (order !== undefined && !isFoundAtOnce(query));
  const isHeavy = isDeep(offset) || isSorted || (await isCommon(read, query));
  return isHeavy ? asideOf(read, query.reach.org) : read;
}

/** Whether a page begins behind so many records that it is best found in one statement. */
export function isDeep(offset: number): boolean {
  return offset > LIGHT;
}

/** Whether many records have the one text by which the others of a filter are looked for, such as a common surname. */
export async function isCommon(read: Reader, { reach, resource, terms }: RecordQuery): Promise<boolean> {
  const narrow = terms.filter(isNarrow);
  const [text] = narrow;
  if (text === undefined || narrow.some(({ key }) => key.value.match !== 'text')) return false;
  if (text.operator !== '==' || terms.some(isRange)) return true;
  const row = await read.get<{ found: number }>(
    sql`SELECT COUNT(*) AS found FROM (SELECT 1 FROM ${raw(tableOf(resource))} r
      WHERE r.org = ${reach.org} AND ${raw(`r.${rangedColumn(text.key)}`)} = ${folded(text)} LIMIT ${LIGHT + 1}) AS looked_at`,
  );
  return (row?.found ?? 0) > LIGHT;
}
