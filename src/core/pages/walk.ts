import type { Operation } from '../../catalog/define.ts';
import type { ApiClient } from '../transport/client.ts';
import { walkNumbered } from './numbered.ts';
import { cutPage, fetchPage, type Page, PageSize } from './page.ts';
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

/** A page that has been asked for. */
interface Asked {
  readonly after: bigint;
  readonly page: Promise<Page>;
  /** What its answer says is its last id; `after` until it came. */
  announced: bigint;
  /** The next page to yield. */
  isWanted: boolean;
}

class Walk {
  left: number;
  readonly stop: WalkStop;
  private last: bigint;
  private fetched: number;
  private ahead: Asked | undefined;
  private readonly size: PageSize;
  private readonly client: ApiClient;
  private readonly operation: Operation;
  private readonly options: WalkOptions;

  constructor(client: ApiClient, operation: Operation, options: WalkOptions) {
    const { from = START, limit = Number.POSITIVE_INFINITY } = options;
    this.client = client;
    this.operation = operation;
    this.options = options;
    this.last = BigInt(from.lastId);
    this.fetched = from.fetched;
    this.left = limit - from.fetched;
    this.size = new PageSize(options.pageSize);
    this.stop = new WalkStop(options.signal);
  }

  async fetch(): Promise<WalkedPage> {
    const { ahead } = this;
    this.ahead = undefined;
    // What was asked for behind another id than the last one comes to nothing.
    const asked = ahead?.after === this.last ? ahead : this.ask(this.last);
    asked.isWanted = true;
    this.goAhead(asked);
    const cut = cutPage(await asked.page, this.left);
    this.last = cut.lastId === null ? this.last : BigInt(cut.lastId);
    this.left -= cut.rows.length;
    this.fetched += cut.rows.length;
    return { ...cut, place: { lastId: this.last.toString(), fetched: this.fetched } };
  }

  private ask(after: bigint): Asked {
    const page = fetchPage(this.client, this.operation, {
      question: this.options,
      place: { after, most: this.left },
      size: this.size,
      onLastId: (id) => {
        asked.announced = id;
        this.goAhead(asked);
      },
      signal: this.stop.signal,
    });
    const asked: Asked = { after, page, announced: after, isWanted: false };
    // Its failure surfaces where the page is awaited.
    page.catch(() => undefined);
    return asked;
  }

  /**
   * Asks for the page after one that has come, before its records are read: the server works on it meanwhile. Only
   * for a page that is waited for, so that no more than one is ahead; and not near a limit, which may end the walk.
   */
  private goAhead({ after, announced, isWanted }: Asked): void {
    const isEarly = isWanted && this.left >= 2 * this.size.current;
    if (isEarly && announced > after && this.ahead?.after !== announced) this.ahead = this.ask(announced);
  }
}
