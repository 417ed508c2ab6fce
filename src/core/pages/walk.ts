import type { Operation } from '../../catalog/define.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { LinkedAbort } from '../abort.ts';
import { readCount } from '../count.ts';
import type { ApiClient } from '../transport/client.ts';
import { walkNumbered } from './numbered.ts';
import { fetchPage, type Page, PageSize, type PageTarget, truncatePage } from './page.ts';
import { prefetcher } from './prefetch.ts';
import { SeenIds } from './seenids.ts';
import { isByNumber, START, type WalkedPage, type WalkOptions } from './walkoptions.ts';

/**
 * Every page of a bulk read (contract §5): by cursor in ascending id order, or as its endpoint has it (`walkNumbered`,
 * `walkUnpaged`). The first request by cursor sends `lastId=0`, which also keeps our server from sorting newest first
 * (D16); only an empty `data` ends the walk. The next page is requested as soon as the last id of this one is known,
 * and fetched while the caller works on this one. Throws a Failure with exit code 8 (`pages.order`) on an id that does
 * not increase, and whatever a request throws: a failed page fails the walk.
 */
export function walkPages(client: ApiClient, operation: Operation, options: WalkOptions): AsyncGenerator<WalkedPage> {
  if (operation.unpaged) return walkUnpaged(client, operation, options);
  const walk = isByNumber(operation) ? walkNumbered : walkCursor;
  return walk(client, operation, options);
}

async function* walkCursor(client: ApiClient, operation: Operation, options: WalkOptions): AsyncGenerator<WalkedPage> {
  const { from = START, limit = Number.POSITIVE_INFINITY } = options;
  let { fetched } = from;
  let left = limit - fetched;
  if (left <= 0) return;
  let last = BigInt(from.lastId);
  const size = new PageSize(options.pageSize);
  const link = new LinkedAbort(options.signal);
  const take = prefetcher(
    (after, onLastId) => {
      const target = { after, most: left };
      return fetchPage(client, operation, { options, target, size, onLastId, signal: link.signal });
    },
    // Near a limit the page may be the last.
    () => left >= 2 * size.current,
  );
  const fetch = async (): Promise<WalkedPage> => {
    const page = truncatePage(await take(last).page, left);
    last = page.lastId === null ? last : BigInt(page.lastId);
    left -= page.rows.length;
    fetched += page.rows.length;
    return { ...page, position: { lastId: last.toString(), fetched } };
  };
  try {
    for (let next = fetch(); ; ) {
      const page = await next;
      if (page.rows.length === 0) return;
      if (left === 0) return yield page;
      next = fetch();
      // Its failure surfaces when it is awaited; until then it must not count as unhandled.
      next.catch(() => undefined);
      yield page;
    }
  } finally {
    link.abort();
  }
}

/**
 * Every row of a list for which the specification shows no paging (schedule template reasons): requested without
 * paging, and for more by `lastId` only where the response says that it was a full page (`meta.pagination.limit`, D17).
 * A service that ignores `lastId` ends the walk by bringing nothing new. No later walk resumes here. Throws what a
 * request throws.
 */
async function* walkUnpaged(client: ApiClient, operation: Operation, options: WalkOptions): AsyncGenerator<WalkedPage> {
  const { limit = Number.POSITIVE_INFINITY, signal = new AbortController().signal } = options;
  const seen = new SeenIds();
  const size = new PageSize(options.pageSize);
  let left = limit;
  let target: PageTarget = 'all';
  while (left > 0) {
    const page: Page = await fetchPage(client, operation, { options, target, size, signal });
    const fresh = truncatePage(seen.fresh(page), left);
    if (fresh.rows.length === 0) return;
    left -= fresh.rows.length;
    yield { ...fresh, position: undefined };
    if (!isFull(page)) return;
    target = { after: BigInt(page.lastId ?? 0), most: Number.POSITIVE_INFINITY, inAnyOrder: true };
  }
}

function isFull({ rows, meta }: Page): boolean {
  const { limit } = isPlainObject(meta?.pagination) ? meta.pagination : {};
  const size = readCount(limit) ?? 0;
  return size > 0 && rows.length >= size;
}
