import type { Operation } from '../../catalog/define.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { readCount } from '../count.ts';
import type { ApiClient } from '../transport/client.ts';
import { fetchPage, type Page, PageSize, type PageTarget, truncatePage } from './page.ts';
import { SeenIds } from './seenids.ts';
import { START, type WalkedPage, type WalkOptions } from './walkplace.ts';

/**
 * Every row of a list for which the specification shows no paging (schedule template reasons): asked for whole, and
 * for more by `lastId` only where the answer says that it was a full page (`meta.pagination.limit`, D17). A service
 * that ignores `lastId` ends the walk by bringing nothing new. Throws what a request throws.
 */
export async function* walkUnpaged(
  client: ApiClient,
  operation: Operation,
  options: WalkOptions,
): AsyncGenerator<WalkedPage> {
  const { from = START, limit = Number.POSITIVE_INFINITY, signal = new AbortController().signal } = options;
  const seen = new SeenIds(BigInt(from.lastId));
  const size = new PageSize(options.pageSize);
  let { fetched } = from;
  let place: PageTarget = 'all';
  while (fetched < limit) {
    const page: Page = await fetchPage(client, operation, { question: options, place, size, signal });
    const fresh = truncatePage(seen.fresh(page), limit - fetched);
    if (fresh.rows.length === 0 && place !== 'all') return;
    fetched += fresh.rows.length;
    yield { ...fresh, position: undefined };
    if (!isFull(page)) return;
    place = { after: BigInt(page.lastId ?? 0), most: Number.POSITIVE_INFINITY, inAnyOrder: true };
  }
}

function isFull({ rows, meta }: Page): boolean {
  const { limit } = isPlainObject(meta?.pagination) ? meta.pagination : {};
  const size = readCount(limit);
  return rows.length > 0 && size !== undefined && size > 0 && rows.length >= size;
}
