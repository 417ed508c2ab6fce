import type { Resource } from '../../catalog/define.ts';
import type { Term } from '../../catalog/filter/check.ts';
import { fairTurn } from '../fairscheduling.ts';
import type { OperationResponse } from '../service.ts';
import { tableOf } from '../store/layout.ts';
import { countRecords, type Slice } from '../store/records.ts';
import type { Store } from '../store/store.ts';

/** A query over stored records, the same for all its pages: the records of an organization that a filter selects. */
interface RecordQuery {
  readonly org: number;
  readonly resource: Resource;
  readonly terms: readonly Term[];
}

/** A page as JSON, and the id of its last record; undefined for an empty one. */
export interface JsonPage {
  readonly data: OperationResponse['data'];
  readonly lastId: number | undefined;
  /** Number of records. */
  readonly found: number;
}

/** Maximum cached counts and page ends of a table. */
const MAX_CACHED = 200;

/** How many records a query selects: counted once for all pages that are read while no such record is written. */
export async function cachedCount(store: Store, query: RecordQuery): Promise<number> {
  const cache = store.countCache(tableOf(query.resource));
  const key = `count ${keyOf(query)}`;
  const total = cache.get(key) ?? (await countNow(store, query));
  remember(cache, key, total);
  return total;
}

async function countNow({ read }: Store, { org, resource, terms }: RecordQuery): Promise<number> {
  await fairTurn(org);
  return countRecords(read, org, resource, terms);
}

/** Reads a page by number, from the end of the page before it if that is cached; pages in another order are not cached. */
export async function readNumberedPage(
  store: Store,
  query: RecordQuery,
  slice: Slice,
  read: (slice: Slice) => Promise<JsonPage>,
): Promise<JsonPage> {
  if (slice.order !== undefined || slice.lastId > 0) return read(slice);
  const currentCache = () => store.countCache(tableOf(query.resource));
  const cache = currentCache();
  const key = keyOf(query);
  const before = slice.offset === 0 ? undefined : cache.get(`end ${slice.offset} ${key}`);
  let page = await read(before === undefined ? slice : { ...slice, lastId: before, offset: 0 });
  // Something was written meanwhile: the page before it may end elsewhere now.
  if (before !== undefined && currentCache() !== cache) page = await read(slice);
  if (page.lastId !== undefined) remember(cache, `end ${slice.offset + slice.limit} ${key}`, page.lastId);
  return page;
}

function remember(cache: Map<string, number>, key: string, value: number): void {
  if (cache.has(key)) return;
  if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value as string);
  cache.set(key, value);
}

function keyOf({ org, resource, terms }: RecordQuery): string {
  return JSON.stringify([
    org,
    resource.type,
    terms.map(({ key, operator, values, all }) => [key.key, operator, all, values]),
  ]);
}
