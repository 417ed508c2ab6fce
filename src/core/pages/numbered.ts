import type { Operation } from '../../catalog/define.ts';
import { LinkedAbort } from '../abort.ts';
import { localFailure } from '../failure.ts';
import type { ApiClient } from '../transport/client.ts';
import { fetchPage, type Page, PageSize, PageTimeout, truncatePage } from './page.ts';
import { SeenIds } from './seenids.ts';
import { START, type WalkedPage, type WalkOptions } from './walkoptions.ts';

/** Timeouts of one page before the walk starts over with pages of half the size, and how often it does so. */
const MAX_TIMEOUTS = 3;
const MAX_HALVINGS = 3;

/** A page may equal the one before it once or twice, when rows were added meanwhile; then the server ignores `page`. */
const MAX_REPEATS = 3;

/**
 * Every row of an endpoint that numbers pages (specification, Appointment histories): page 1, 2, … until one is empty,
 * in whatever order and however many rows a page has. Rows are remembered by id, so one that moves to the next page
 * during the walk is yielded once; no last id tells which arrived, so no later walk resumes here. All pages of a walk
 * have one size: after repeated timeouts it starts over with a smaller one. Throws as `walkPages` does, and
 * `pages.order` when the server sends the same page again.
 */
export async function* walkNumbered(
  client: ApiClient,
  operation: Operation,
  options: WalkOptions,
): AsyncGenerator<WalkedPage> {
  const { from = START, limit = Number.POSITIVE_INFINITY, mostTimeouts = MAX_TIMEOUTS } = options;
  const { seen = new SeenIds(BigInt(from.lastId)) } = options;
  let left = limit - from.fetched;
  if (left <= 0) return;
  const size = new PageSize(options.pageSize);
  const link = new LinkedAbort(options.signal);
  const fetch = (page: number) => {
    const request = { options: { ...options, mostTimeouts }, target: { page }, size, signal: link.signal };
    return fetchPage(client, operation, request);
  };
  let before: Page | undefined;
  let repeats = 0;
  let halvings = 0;
  try {
    for (let number = 1, next = fetch(1); ; number++) {
      const page = await next.catch((cause: unknown) => {
        if (!(cause instanceof PageTimeout) || size.current === 1 || halvings++ === MAX_HALVINGS) throw cause;
        size.shrink(size.current);
      });
      if (page === undefined) {
        [number, before, next] = [0, undefined, fetch(1)];
        continue;
      }
      if (page.rows.length === 0) return;
      repeats = before !== undefined && isSame(before, page) ? repeats + 1 : 0;
      if (repeats === MAX_REPEATS) {
        const message = `Page ${number} of ${operation.path} is the same as the one before it.`;
        throw localFailure('pages.order', message, { requestId: page.requestId });
      }
      before = page;
      next = fetch(number + 1);
      next.catch(() => undefined);
      const fresh = truncatePage(seen.fresh(page), left);
      left -= fresh.rows.length;
      if (fresh.rows.length > 0) yield { ...fresh, position: undefined };
      if (left === 0) return;
    }
  } finally {
    link.abort();
  }
}

function isSame(before: Page, page: Page): boolean {
  const { rows, firstId, lastId } = page;
  return before.rows.length === rows.length && before.firstId === firstId && before.lastId === lastId;
}
