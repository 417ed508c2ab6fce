import type { Operation } from '../../catalog/define.ts';
import type { ApiClient } from '../transport/client.ts';
import { cutPage, dividing, fetchPage, type Page, type PageQuestion, PageSize } from './page.ts';

export interface WalkOptions extends PageQuestion {
  readonly pageSize: number;
  /** Stops after this many rows, without asking for more than that. */
  readonly limit?: number | undefined;
  /** Goes on where an earlier walk of the same question stopped. */
  readonly from?: WalkPlace | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Where a walk stands. */
export interface WalkPlace {
  /** The last id that came, `0` before the first. */
  readonly lastId: string;
  /** Rows that came. */
  readonly fetched: number;
  /** Rows of all pages asked for, by which page numbers are counted; of no meaning to a walk by cursor. */
  readonly asked: number;
}

/** A page, and where the walk stands behind it. */
export interface WalkedPage extends Page {
  readonly place: WalkPlace;
}

/**
 * Every page of a bulk read, in ascending id order (contract §5): by cursor, or by page number where the endpoint has
 * no cursor (appointment histories). The first call by cursor sends `lastId=0`, which
 * also keeps endpoints that would answer newest first in id order (D16); only an empty `data` ends the walk. The next
 * page is asked for as soon as the last id of this one is seen, and fetched while the caller works on this one. Throws a Failure with exit code 8 (`pages.order`) on an id that
 * does not increase, and whatever a request throws: a failed page fails the walk.
 */
export async function* walkPages(
  client: ApiClient,
  operation: Operation,
  options: WalkOptions,
): AsyncGenerator<WalkedPage> {
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
    walk.stop();
  }
}

/** A page that has been asked for. */
interface Asked {
  readonly after: bigint;
  readonly page: Promise<Page>;
  /** What its answer says is its last id; `after` until it came. */
  announced: bigint;
  /** It is the next one to be given out. */
  isWanted: boolean;
}

class Walk {
  left: number;
  private last: bigint;
  private fetched: number;
  private asked: number;
  private ahead: Asked | undefined;
  private readonly size: PageSize;
  private readonly byNumber: boolean;
  private readonly client: ApiClient;
  private readonly operation: Operation;
  private readonly options: WalkOptions;
  private readonly stopping = new AbortController();

  constructor(client: ApiClient, operation: Operation, options: WalkOptions) {
    this.client = client;
    this.operation = operation;
    this.options = options;
    this.last = BigInt(options.from?.lastId ?? 0);
    this.fetched = options.from?.fetched ?? 0;
    this.asked = options.from?.asked ?? 0;
    this.left = (options.limit ?? Number.POSITIVE_INFINITY) - this.fetched;
    this.byNumber = operation.paging?.style === 'pages';
    this.size = new PageSize(this.byNumber ? dividing(options.pageSize, this.asked) : options.pageSize);
    options.signal?.addEventListener('abort', this.relay, { once: true });
    if (options.signal?.aborted) this.relay();
  }

  async fetch(): Promise<WalkedPage> {
    const { ahead } = this;
    this.ahead = undefined;
    // What was asked for behind another id than the last one comes to nothing.
    const asked = ahead?.after === this.last ? ahead : this.ask(this.last);
    asked.isWanted = true;
    this.goAhead(asked);
    const page = await asked.page;
    const cut = cutPage(page, this.left);
    this.last = cut.lastId === null ? this.last : BigInt(cut.lastId);
    this.left -= cut.rows.length;
    this.fetched += cut.rows.length;
    this.asked += page.pageSize;
    return { ...cut, place: { lastId: this.last.toString(), fetched: this.fetched, asked: this.asked } };
  }

  private ask(after: bigint): Asked {
    const page = fetchPage(this.client, this.operation, {
      question: this.options,
      place: this.byNumber ? { before: this.asked } : { after, most: this.left },
      size: this.size,
      last: after,
      onLastId: (id) => {
        asked.announced = id;
        this.goAhead(asked);
      },
      signal: this.stopping.signal,
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
    const isEarly = isWanted && !this.byNumber && this.left >= 2 * this.size.current;
    if (isEarly && announced > after && this.ahead?.after !== announced) this.ahead = this.ask(announced);
  }

  stop(): void {
    this.options.signal?.removeEventListener('abort', this.relay);
    this.stopping.abort(new Error('The walk has ended.'));
  }

  private readonly relay = () => this.stopping.abort(this.options.signal?.reason);
}
