import type { Operation } from '../../catalog/define.ts';
import { localFailure } from '../failure.ts';
import type { ApiClient } from '../transport/client.ts';
import { fetchPage, type Page, PageSize, PageTimeout, truncatePage } from './page.ts';
import { SeenIds } from './seenids.ts';
import { START, type WalkedPage, type WalkOptions } from './walkplace.ts';
import { WalkStop } from './walkstop.ts';

/** Timeouts of one page after which the walk starts over with pages of half the size, and how often it does so. */
const MOST_TIMEOUTS = 3;
const MOST_HALVINGS = 3;

/** A page may be that before it once or twice, when rows were added meanwhile; more often the server ignores `page`. */
const MOST_REPEATS = 3;

/**
 * Every row of an endpoint that counts pages (specification, Appointment histories): page 1, 2, … until one is empty, in
 * whatever order they come and however many rows a page has. Rows are remembered by id, so one that moves to the next
 * page during the walk comes once; no last id tells which came, so no later walk resumes here. All pages of a walk have
 * one size: after a timeout that repeats it starts over with a smaller one. Throws as `walkPages` does, and `pages.order` when the server gives the same page again.
 */
export async function* walkNumbered(
  client: ApiClient,
  operation: Operation,
  options: WalkOptions,
): AsyncGenerator<WalkedPage> {
  const walk = new NumberedWalk(client, operation, options);
  if (walk.left <= 0) return;
  try {
    yield* walk.pages();
  } finally {
    walk.stop.end();
  }
}

class NumberedWalk {
  left: number;
  readonly stop: WalkStop;
  private halvings = 0;
  private readonly seen: SeenIds;
  private readonly size: PageSize;
  private readonly client: ApiClient;
  private readonly operation: Operation;
  private readonly options: WalkOptions;

  constructor(client: ApiClient, operation: Operation, options: WalkOptions) {
    const { from = START, limit = Number.POSITIVE_INFINITY, pageSize } = options;
    this.client = client;
    this.operation = operation;
    this.options = options;
    this.left = limit - from.fetched;
    this.seen = options.seen ?? new SeenIds(BigInt(from.lastId));
    this.size = new PageSize(pageSize);
    this.stop = new WalkStop(options.signal);
  }

  async *pages(): AsyncGenerator<WalkedPage> {
    let before: Page | undefined;
    let repeats = 0;
    for (let number = 1, next = this.fetch(1); ; number++) {
      const page = await next.catch((cause: unknown) => this.smaller(cause));
      if (page === undefined) {
        [number, before, next] = [0, undefined, this.fetch(1)];
        continue;
      }
      if (page.rows.length === 0) return;
      repeats = before !== undefined && isSame(before, page) ? repeats + 1 : 0;
      if (repeats === MOST_REPEATS) throw this.stuck(number, page);
      before = page;
      next = this.fetch(number + 1);
      next.catch(() => undefined);
      const fresh = truncatePage(this.seen.fresh(page), this.left);
      this.left -= fresh.rows.length;
      if (fresh.rows.length > 0) yield { ...fresh, position: undefined };
      if (this.left === 0) return;
    }
  }

  private fetch(page: number): Promise<Page> {
    const { signal } = this.stop;
    const { mostTimeouts = MOST_TIMEOUTS } = this.options;
    const question = { ...this.options, mostTimeouts };
    return fetchPage(this.client, this.operation, { question, place: { page }, size: this.size, signal });
  }

  /** Halves the pages after a timeout; anything else is thrown. */
  private smaller(cause: unknown): undefined {
    if (!(cause instanceof PageTimeout) || this.size.current === 1 || this.halvings++ === MOST_HALVINGS) throw cause;
    this.size.shrink(this.size.current);
  }

  private stuck(number: number, { requestId }: Page) {
    const message = `Page ${number} of ${this.operation.path} is the same as the one before it.`;
    return localFailure('pages.order', message, { requestId });
  }
}

function isSame(before: Page, page: Page): boolean {
  const { rows, firstId, lastId } = page;
  return before.rows.length === rows.length && before.firstId === firstId && before.lastId === lastId;
}
