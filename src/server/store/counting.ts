import sql, { raw, type Sql } from 'sql-template-tag';
import type { Resource } from '../../catalog/define.ts';
import type { Term } from '../../catalog/filter/check.ts';
import type { Operator } from '../../catalog/operators.ts';
import { conditionsOf, isOneOf, isRange } from './conditions.ts';
import { keptCount } from './counts.ts';
import { isCommon } from './heavy.ts';
import { columnName, layoutOf, tableOf } from './layout.ts';
import type { Reach } from './reach.ts';
import {
  alongIds,
  alongRange,
  fewOf,
  goAlong,
  isNarrow,
  PACES,
  type Paces,
  type Range,
  type RecordQuery,
  type Road,
  rangeOf,
  rangesOf,
  TOLD,
} from './roads.ts';
import { asideOf, type Reader } from './store.ts';

/** How many records a query selects: counted in parts where it may be many. */
export async function countRecords(
  read: Reader,
  reach: Reach,
  resource: Resource,
  terms: readonly Term[],
  paces: Paces = PACES,
): Promise<number> {
  const { table, place } = layoutOf(resource);
  const limits = terms.filter(({ all }) => all !== true);
  const [only] = limits;
  const atPlaces = only?.key.key !== undefined && columnName(only.key.key) === place?.name && isOneOf(only);
  if (reach.locations === undefined && (only === undefined || (atPlaces && limits.length === 1))) {
    return keptCount(read, reach.org, table, only?.values as number[] | undefined);
  }
  const query = { reach, resource, terms };
  if (isCountedAtOnce(query)) {
    const isHeavy = read.aside !== undefined && (await isCommon(read, query));
    return countAtOnce(isHeavy ? asideOf(read, reach.org) : read, query);
  }
  const few = await fewOf(read, query, paces.few);
  if (few !== undefined) return countAtOnce(read, query, few);
  return countAlong(read, query, paces);
}

/** Counts in one statement: nothing is written while it is counted, however long that takes. */
export async function countAtOnce(read: Reader, query: RecordQuery, where = whereOf(query)): Promise<number> {
  const { reach, resource } = query;
  const row = await read.get<{ total: number }>(
    sql`SELECT COUNT(*) AS total FROM ${raw(tableOf(resource))} r WHERE r.org = ${reach.org}${where}`,
  );
  return row?.total ?? 0;
}

const whereOf = ({ reach, resource, terms }: RecordQuery) => conditionsOf(reach, resource, terms);

/** Whether one index counts the records, and they are few or simply all. */
function isCountedAtOnce({ reach, terms }: RecordQuery): boolean {
  return terms.some(isNarrow) || (reach.locations === undefined && terms.every(({ all }) => all));
}

/** Counts the records of a query. One that is changed meanwhile may count as it was before, as it is then, or as both. */
async function countAlong(read: Reader, query: RecordQuery, paces: Paces): Promise<number> {
  const { reach, resource } = query;
  const road = await roadToCount(read, query, paces);
  const countWithin = async (where: Sql) => {
    const row = await read.get<{ found: number }>(
      sql`SELECT COUNT(*) AS found FROM (SELECT 1 FROM ${raw(tableOf(resource))} r WHERE r.org = ${reach.org}${where}
        ORDER BY ${road.order} LIMIT ${paces.most * TOLD}) AS counted`,
    );
    return row?.found ?? 0;
  };
  let total = 0;
  return goAlong([road], query, paces, async ({ where, isLast, found }) => {
    total += found ?? (await countWithin(where));
    return isLast ? total : undefined;
  });
}

/** All of a road has to be gone: which one is shortest is told by its index alone, without a look at any record. */
async function roadToCount(read: Reader, query: RecordQuery, paces: Paces): Promise<Road> {
  const telling = tellingOf(query);
  if (telling !== undefined) return alongRange(read, query, telling, 0);
  const ranges = rangesOf(query);
  const roads = () => [alongIds(read, query, 0), ...ranges.map((range) => alongRange(read, query, range, 0))];
  const measured = roads();
  const shortest =
    ranges.length === 0
      ? 0
      : await goAlong(measured, query, paces, async ({ isLast }, road) =>
          isLast ? measured.indexOf(road) : undefined,
        );
  return roads()[shortest] as Road;
}

/** The column whose index alone tells which records are selected: that of the only key of a filter. */
function tellingOf({ reach, terms }: RecordQuery): Range | undefined {
  const limiting = terms.filter(({ all }) => !all);
  const [first] = limiting;
  if (first === undefined || reach.locations !== undefined || limiting.some(({ key }) => key !== first.key))
    return undefined;
  const { key } = first;
  // The index of a text has its folded form alone; one value has its records in the order of their ids.
  const isTold = limiting.every(
    ({ operator }) => isFoldedOnly(operator) || (key.value.match !== 'text' && operator !== '=='),
  );
  if (key.index !== 'plain' || key.key === 'id' || key.value.match === 'many' || !isTold) return undefined;
  return rangeOf(limiting, key, !limiting.some(isRange), isRange);
}

function isFoldedOnly(operator: Operator): boolean {
  return operator === '~=' || operator === '<>=';
}
