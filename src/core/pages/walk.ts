import type { Operation } from '../../catalog/define.ts';
import type { ApiClient } from '../transport/client.ts';
import { Prefetcher } from './askahead.ts';
import { walkNumbered } from './numbered.ts';
import { fetchPage, PageSize, truncatePage } from './page.ts';
import { walkUnpaged } from './unpaged.ts';
import { START, type WalkedPage, type WalkOptions } from './walkplace.ts';
import { WalkStop } from './walkstop.ts';

/**
 * Every page of a bulk read (contract §5): by cursor in ascending id order, or as its endpoint has it (`walkNumbered`,
 * `walkUnpaged`). The first call by cursor sends `lastId=0`, which also keeps our server from answering newest first
 * (D16); only an empty `data` ends the walk. The next page is asked for as soon as the last id of this one is seen, and
 * fetched while the caller works on this one. Throws a Failure with exit code 8 (`pages.order`) on an id that does not
 * increase, and whatever a request throws: a failed page fails the walk.
 */
export function walkPages(client: ApiClient, operation: Operation, options: WalkOptions): AsyncGenerator<WalkedPage> {
  if (operation.unpaged) return walkUnpaged(client, operation, options);
  return operation.paging?.style === 'pages'
    ? walkNumbered(client, operation, options)
    : walkCursor(client, operation, options);
}

async function* walkCursor(client: ApiClient, operation: Operation, options: WalkOptions): AsyncGenerator<WalkedPage> {
  const walk = new Walk(client, operation, options);
  if (walk.left <= 0) return;
  try {
    for (let next = walk.fetch(); ; ) {
      const page = await next;
      if (page.rows.length === 0) return;
      if (walk.left === 0) return yield page;
      next = walk.fetch();
      // Its failure surfaces when it is awaited; until then it must not count as unhandled.
      next.catch(() => undefined);
      yield page;
    }
  } finally {
    walk.stop.end();
  }
}

class Walk {
  left: number;
  readonly stop: WalkStop;
  private last: bigint;
  private fetched: number;
  private readonly asking: Prefetcher;

  constructor(client: ApiClient, operation: Operation, options: WalkOptions) {
    const { from = START, limit = Number.POSITIVE_INFINITY } = options;
    this.last = BigInt(from.lastId);
    this.fetched = from.fetched;
    this.left = limit - from.fetched;
    this.stop = new WalkStop(options.signal);
    const { signal } = this.stop;
    const size = new PageSize(options.pageSize);
    this.asking = new Prefetcher(
      (after, onLastId) => {
        const place = { after, most: this.left };
        return fetchPage(client, operation, { question: options, place, size, onLastId, signal });
      },
      // Near a limit the page may be the last.
      () => this.left >= 2 * size.current,
    );
  }

  async fetch(): Promise<WalkedPage> {
    const cut = truncatePage(await this.asking.take(this.last).page, this.left);
    this.last = cut.lastId === null ? this.last : BigInt(cut.lastId);
    this.left -= cut.rows.length;
    this.fetched += cut.rows.length;
    return { ...cut, position: { lastId: this.last.toString(), fetched: this.fetched } };
  }
}
