import { fairTurn } from '../fairscheduling.ts';
import type { OperationResponse } from '../service.ts';
import { countAtOnce, countRecords } from '../store/counting.ts';
import { tableOf } from '../store/layout.ts';
import type { Slice } from '../store/records.ts';
import type { RecordQuery } from '../store/roads.ts';
import { asideOf, type Store } from '../store/store.ts';

/** A page as JSON, and the id of its last record; undefined for an empty one. */
export interface JsonPage {
  readonly data: OperationResponse['data'];
  readonly lastId: number | undefined;
  /** Number of records. */
  readonly found: number;
}

/** Maximum cached counts and page ends of a table. */
const MAX_CACHED = 200;

/** How often records are counted that are written meanwhile. */
const MAX_COUNTED = 3;

/** How many records a query selects: counted once for all pages that are read while no such record is written. */
export async function cachedCount(store: Store, query: RecordQuery): Promise<number> {
  const cache = currentCache(store, query);
  const key = `count ${keyOf(query)}`;
  const total = cache.get(key) ?? (await countNow(store, query));
  remember(cache, key, total);
  return total;
}

/** Counted in parts, and again where something was written between them: the last time in one. */
async function countNow(store: Store, query: RecordQuery): Promise<number> {
  const { reach, resource, terms } = query;
  for (let tries = 1; ; tries++) {
    await fairTurn(reach.org);
    const cache = currentCache(store, query);
    if (tries === MAX_COUNTED) return countAtOnce(asideOf(store.read, reach.org), query);
    const total = await countRecords(store.read, reach, resource, terms);
    if (currentCache(store, query) === cache) return total;
  }
}

/** Reads a page by number, from the end of the page before it if that is cached; pages in another order are not cached. */
export async function readNumberedPage(
  store: Store,
  query: RecordQuery,
  slice: Slice,
  read: (slice: Slice) => Promise<JsonPage>,
): Promise<JsonPage> {
  if (slice.order !== undefined || slice.lastId > 0) return read(slice);
  const cache = currentCache(store, query);
  const key = keyOf(query);
  const before = slice.offset === 0 ? undefined : cache.get(`end ${slice.offset} ${key}`);
  let page = await read(before === undefined ? slice : { ...slice, lastId: before, offset: 0 });
  // Something was written meanwhile: the page before it may end elsewhere now.
  if (before !== undefined && currentCache(store, query) !== cache) page = await read(slice);
  if (page.lastId !== undefined) remember(cache, `end ${slice.offset + slice.limit} ${key}`, page.lastId);
  return page;
}

/** What is within reach of some locations changes with other tables, too: with those of patients, exams and claims. */
function currentCache(store: Store, { reach, resource }: RecordQuery): Map<string, number> {
  return reach.locations === undefined ? store.countCache(tableOf(resource)) : store.countCache();
}

function remember(cache: Map<string, number>, key: string, value: number): void {
  if (cache.has(key)) return;
  if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value as string);
  cache.set(key, value);
}

function keyOf({ reach, resource, terms }: RecordQuery): string {
  return JSON.stringify([
    reach.org,
    reach.locations,
    resource.type,
    terms.map(({ key, operator, values, all }) => [key.key, operator, all, values]),
  ]);
}
