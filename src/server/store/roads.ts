import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import type { Resource } from '../../catalog/define.ts';
import type { FilterKey, Term } from '../../catalog/filter/check.ts';
import { fairTurn } from '../fairscheduling.ts';
import { conditionsOf, isRange, rangedColumn } from './conditions.ts';
import { tableOf } from './layout.ts';
import type { Reach } from './reach.ts';
import type { Reader } from './store.ts';

/** A query over stored records: those within reach that a filter selects. */
export interface RecordQuery {
  readonly reach: Reach;
  readonly resource: Resource;
  readonly terms: readonly Term[];
}

/** How many rows of a road are looked at before another road is tried; each a few milliseconds at most. */
export interface Paces {
  /** A range of no more records is read whole by its index; of `more`, where the first stretch does not fill the page. */
  readonly few: number;
  readonly more: number;
  /** Records of the first stretch along the ids, and of further stretches along any road: twice as many each time. */
  readonly first: number;
  readonly most: number;
}

export const PACES: Paces = { few: 1000, more: 4000, first: 1000, most: 4000 };

/** So many rows of an index alone take as long as one with its record. */
export const TOLD = 8;

/** Rows that a road looks at next, as a condition that says all that is left of the filter. */
interface Stretch {
  readonly where: Sql;
  /** No row of the road is left after it. */
  readonly isLast: boolean;
  /** How many records it has, where that is known: each of its rows is one. */
  readonly found?: number;
}

/**
 * A way to the records of a query: along the ids, which fills a page soon where many are selected, or along an index of a
 * range, which ends soon where few are. Each record that is selected throughout lies on every road.
 */
export interface Road {
  readonly isOfIds: boolean;
  /** The order that its rows have: who asks for it makes a store take its index. */
  readonly order: Sql;
  next(rows: number): Promise<Stretch>;
}

/** Values of one column that an index has in order, after an exact value where it begins with another column. */
export interface Range {
  readonly column: string;
  /** All values are wanted, and so are records that have none. */
  readonly isWhole: boolean;
  /** Whoever changes a record moves it upwards, and never back. */
  readonly isOfChanges: boolean;
  readonly own: readonly Term[];
  readonly others: readonly Term[];
}

/** Whether one index finds the records in id order, and few others with them: no road is shorter. */
export function isFoundAtOnce({ reach, terms }: RecordQuery): boolean {
  const limiting = terms.filter(({ all }) => !all);
  if (limiting.some(isNarrow)) return true;
  return reach.locations === undefined && (limiting.length === 0 || (limiting.length === 1 && limiting.every(isLed)));
}

/** Whether an index has the records of the term's one value in id order. */
function isLed({ key, operator, all }: Term): boolean {
  return operator === '==' && !all && key.value.match !== 'many' && isIndexed(key);
}

/** Whether few records have the values of the term, and an index finds them. */
export function isNarrow({ key, operator, all }: Term): boolean {
  return (operator === '==' || operator === '->') && !all && !key.fewValues && isIndexed(key);
}

function isIndexed({ key, index }: FilterKey): boolean {
  return key === 'id' || index !== 'none';
}

/** The ranges of a filter, and its exact values that an index has in the order of another key. */
export function rangesOf({ resource, terms }: RecordQuery): Range[] {
  const keyed = new Set(terms.filter((term) => isRange(term) && isIndexed(term.key)).map(({ key }) => key));
  const ranges = [...keyed].map((key) => {
    const lead = terms.find((term) => follows(resource, term).includes(key));
    return rangeOf(terms, key, false, (term) => term === lead || (term.key === key && isRange(term)));
  });
  for (const lead of terms) {
    const [key] = follows(resource, lead);
    if (key === undefined || isLed(lead) || ranges.some(({ own }) => own.includes(lead))) continue;
    ranges.push(rangeOf(terms, key, true, (term) => term === lead));
  }
  return ranges;
}

export function rangeOf(
  terms: readonly Term[],
  key: FilterKey,
  isWhole: boolean,
  isOwn: (term: Term) => boolean,
): Range {
  const others = terms.filter((term) => !isOwn(term));
  const isOfChanges = !isWhole && key.key === 'lastModified';
  return { column: rangedColumn(key), isWhole, isOfChanges, own: terms.filter(isOwn), others };
}

/** The keys in whose order indexes have the records of an exact value. */
function follows({ indexes = [], filters }: Resource, { key, operator, all }: Term): FilterKey[] {
  if (operator !== '==' || all) return [];
  const led = indexes.filter(({ keys, unless }) => keys[0] === key.key && unless === undefined);
  return led.flatMap(({ keys: [, next] }) => Object.values(filters).filter((follower) => follower.key === next));
}

/** The conditions of a range that selects so few records that they are best found together, by its index. */
export async function fewOf(read: Reader, query: RecordQuery, few: number): Promise<Sql | undefined> {
  const { reach, resource } = query;
  for (const { own, others } of rangesOf(query)) {
    const byIndex = conditionsOf({ org: reach.org }, resource, own);
    const row = await read.get<{ found: number }>(
      sql`SELECT COUNT(*) AS found FROM (SELECT 1 FROM ${raw(tableOf(resource))} r
        WHERE r.org = ${reach.org}${byIndex} LIMIT ${few + 1}) AS looked_at`,
    );
    if ((row?.found ?? 0) <= few) return sql`${byIndex}${conditionsOf(reach, resource, others, 'rows')}`;
  }
  return undefined;
}

/** Along the ids: of all records, or of those with a value that many share. */
export function alongIds(read: Reader, { reach, resource, terms }: RecordQuery, after: number): Road {
  const lead = terms.find(isLed);
  const others = terms.filter((term) => term !== lead);
  const led = lead === undefined ? empty : conditionsOf({ org: reach.org }, resource, [lead]);
  const checked = sql`${led}${conditionsOf(reach, resource, others, 'rows')}`;
  const isAll = isSelecting(reach, others);
  let reached = after;
  return {
    isOfIds: true,
    order: raw('r.id'),
    async next(rows) {
      const from = sql` AND r.id > ${reached}`;
      const end = await read.get<{ id: number }>(
        sql`SELECT r.id FROM ${raw(tableOf(resource))} r WHERE r.org = ${reach.org}${led}${from} ORDER BY r.id LIMIT 1 OFFSET ${rows - 1}`,
      );
      if (end === undefined) return { where: sql`${from}${checked}`, isLast: true };
      reached = end.id;
      return { where: sql`${from} AND r.id <= ${end.id}${checked}`, isLast: false, ...(isAll && { found: rows }) };
    },
  };
}

/** Whether all are selected that the other terms have found. */
function isSelecting({ locations }: Reach, others: readonly Term[]): boolean {
  return locations === undefined && others.every(({ all }) => all);
}

/** Along the index of a range, upwards: a record that is moved on meanwhile is met again; one that is moved back is missed. */
export function alongRange(read: Reader, { reach, resource }: RecordQuery, range: Range, after: number): Road {
  const column = raw(`r.${range.column}`);
  const own = conditionsOf({ org: reach.org }, resource, range.own);
  const onwards = conditionsOf({ org: reach.org }, resource, range.own, 'onwards');
  // Not in a form that the primary key could be taken for.
  const checked = sql` AND r.id + 0 > ${after}${conditionsOf(reach, resource, range.others, 'rows')}`;
  const isTold = isSelecting(reach, range.others);
  const isAll = isTold && after === 0;
  const isNone = sql`${own} AND ${column} IS NULL`;
  // No value is above or below none: records without one come first, in the order of their ids.
  let from = range.isWhole ? isNone : own;
  let isAtNone = range.isWhole;
  return {
    isOfIds: false,
    order: sql`${column}, r.id`,
    async next(paced) {
      const rows = isTold ? paced * TOLD : paced;
      const end = await read.get<{ value: string | number; id: number }>(
        sql`SELECT ${column} AS value, r.id FROM ${raw(tableOf(resource))} r WHERE r.org = ${reach.org}${from}
          ORDER BY ${column}, r.id LIMIT 1 OFFSET ${rows - 1}`,
      );
      const here = from;
      if (isAtNone) {
        from = end === undefined ? sql`${own} AND ${column} IS NOT NULL` : sql`${isNone} AND r.id > ${end.id}`;
        isAtNone = end !== undefined;
        return {
          where: sql`${here}${end === undefined ? empty : sql` AND r.id <= ${end.id}`}${checked}`,
          isLast: false,
        };
      }
      if (end === undefined) return { where: sql`${here}${checked}`, isLast: true };
      from = sql`${onwards} AND (${column}, r.id) > (${end.value}, ${end.id})`;
      const where = sql`${here} AND (${column}, r.id) <= (${end.value}, ${end.id})${checked}`;
      return { where, isLast: false, ...(isAll && { found: rows }) };
    },
  };
}

/**
 * Goes along all roads in turn, in stretches that grow, until `take` has what is wanted from one of them: that takes no
 * more than so many times as long as the shortest road alone. Others have their turn before each stretch.
 */
export async function goAlong<T>(
  roads: readonly Road[],
  { reach }: RecordQuery,
  { first, most }: Paces,
  take: (stretch: Stretch, road: Road) => Promise<T | undefined>,
): Promise<T> {
  for (let rows = first; ; rows = Math.min(rows * 2, most)) {
    for (const road of roads) {
      await fairTurn(reach.org);
      const taken = await take(await road.next(rows), road);
      if (taken !== undefined) return taken;
    }
  }
}

/**
 * The first ids of a query above an id, ascending, at most `wanted`. None is missed that is selected all the while: so only
 * those ranges are gone along in which no record is moved back.
 */
export function firstIds(
  read: Reader,
  query: RecordQuery,
  after: number,
  wanted: number,
  paces: Paces,
): Promise<number[]> {
  const { reach, resource } = query;
  const lowest = new Map<Road, number[]>();
  const changes = rangesOf(query).filter(({ isOfChanges }) => isOfChanges);
  const roads = [alongIds(read, query, after), ...changes.map((range) => alongRange(read, query, range, after))];
  return goAlong(roads, query, paces, async ({ where, isLast }, road) => {
    const known = lowest.get(road) ?? [];
    const rows = await read.all<{ id: number }>(
      sql`SELECT r.id FROM ${raw(tableOf(resource))} r WHERE r.org = ${reach.org}${where}
        ORDER BY ${raw(road.isOfIds ? 'r.id' : 'r.id + 0')} LIMIT ${wanted}`,
    );
    const ids = [...new Set([...known, ...rows.map(({ id }) => id)])].sort((a, b) => a - b).slice(0, wanted);
    lowest.set(road, ids);
    return isLast || (road.isOfIds && ids.length === wanted) ? ids : undefined;
  });
}

/** The condition that a record has one of some ids, and still is selected; its text has few forms. */
export function among(ids: readonly number[], { reach, resource, terms }: RecordQuery): Sql {
  const places = 2 ** Math.ceil(Math.log2(ids.length));
  const padded = Array.from({ length: places }, (_, index) => ids[Math.min(index, ids.length - 1)]);
  return sql` AND r.id IN (${join(padded)})${conditionsOf(reach, resource, terms, 'rows')}`;
}
