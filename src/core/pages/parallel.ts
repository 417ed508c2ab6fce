import type { Operation } from '../../catalog/define.ts';
import { LinkedAbort } from '../abort.ts';
import type { ApiClient } from '../transport/client.ts';
import { fetchPage, orderOf, type Page, PageSize, type PageTarget, truncatePage } from './page.ts';
import { prefetcher } from './prefetch.ts';
import { walkPages } from './walk.ts';
import { isByCursor, START, type WalkedPage, type WalkOptions } from './walkoptions.ts';

/** Options of a parallel walk. */
export interface ParallelOptions extends WalkOptions {
  /** Requests at once; 1 walks one page after another. */
  readonly parallel: number;
}

/**
 * As `walkPages`, with several requests at once: the ids are cut into ranges that are read at the same time, and their
 * pages are yielded in id order, so the rows are those of a sequential walk. How wide a range is follows from how dense
 * the ids have been so far. The end is where a range finds nothing after its last row; rows of ranges after that one
 * are dropped, so that no row can be missing between two others. Endpoints that number pages are walked sequentially.
 */
export async function* walkParallel(
  client: ApiClient,
  operation: Operation,
  options: ParallelOptions,
): AsyncGenerator<WalkedPage> {
  const { limit = Number.POSITIVE_INFINITY, from = START } = options;
  const isShort = limit - from.fetched <= options.pageSize;
  if (options.parallel <= 1 || !isByCursor(operation) || isShort) return yield* walkPages(client, operation, options);
  const walk = new RangeWalk(client, operation, options, BigInt(from.lastId));
  let { fetched } = from;
  try {
    for await (const page of walk.pages()) {
      const cut = truncatePage(page, limit - fetched);
      fetched += cut.rows.length;
      // No page is empty.
      yield { ...cut, position: { lastId: String(cut.lastId), fetched } };
      if (fetched >= limit) return;
    }
  } finally {
    walk.end();
  }
}

/** Pages that a range should hold: few, since ranges wait in memory for those before them. */
const PAGES_PER_RANGE = 3;

/** Maximum pages of a range that are buffered; a range with more rows than expected waits then. */
const MAX_BUFFERED_PAGES = 4;

class RangeWalk {
  readonly size: PageSize;
  readonly fetch: (target: PageTarget, onLastId?: (id: bigint) => void) => Promise<Page>;
  /** Responses have announced the last ids of their pages correctly. One that did not ends all prefetching. */
  areIdsRight = true;
  private readonly link: LinkedAbort;
  private readonly parallel: number;
  private readonly waiting: IdRange[] = [];
  private reading = 0;
  private ended = false;
  /** Ids of the next range. */
  private width = 1n;

  constructor(
    client: ApiClient,
    operation: Operation,
    options: ParallelOptions,
    /** Where the next range begins. */
    private start: bigint,
  ) {
    this.parallel = options.parallel;
    this.link = new LinkedAbort(options.signal);
    this.size = new PageSize(options.pageSize);
    const { size } = this;
    const { signal } = this.link;
    this.fetch = async (target, onLastId) => {
      signal.throwIfAborted();
      return fetchPage(client, operation, { options, target, size, onLastId, signal });
    };
  }

  async *pages(): AsyncGenerator<Page> {
    yield* this.firstPages();
    while (!this.ended || this.waiting.length > 0) {
      // Until the end has been seen, the end of a range makes another one wait.
      const range = this.waiting.shift() as IdRange;
      // One more may wait now.
      this.fill();
      yield* range.take();
      if (range.ended) return;
    }
  }

  end(): void {
    this.link.abort();
  }

  /** Called once by each range, as soon as it has requested its last page as far as that is known. */
  onAllRequested(): void {
    this.reading--;
    this.fill();
  }

  /** Called by a range that requests nothing more, before its last page can be taken. */
  onDone(range: IdRange): void {
    if (range.ended || range.failure !== undefined) this.ended = true;
    // Ids between two ranges that no record has need not be requested.
    if (range.nextId > this.start + 1n) this.start = range.nextId - 1n;
    if (range.seen.rows > 0) this.aim(range.seen.rows, range.seen.ids);
  }

  /**
   * Pages one after another up to the first full one: only then is there more to come, and known how dense ids are. A
   * service may have smaller pages than requested: one as long as the one before it is full, too.
   */
  private async *firstPages(): AsyncGenerator<Page> {
    for (let before = Number.POSITIVE_INFINITY; ; ) {
      const page = await this.fetch({ after: this.start, most: Number.POSITIVE_INFINITY });
      if (page.rows.length === 0) {
        this.ended = true;
        return;
      }
      this.start = BigInt(page.lastId ?? 0);
      const { length } = page.rows;
      const isFull = length >= Math.min(page.pageSize, before);
      before = length;
      if (isFull) {
        this.size.current = length;
        this.aim(length, this.start - BigInt(page.firstId ?? 0) + 1n);
        this.fill();
      }
      yield page;
      if (isFull) return;
    }
  }

  /** Reads as many ranges at once as requested. */
  private fill(): void {
    while (!this.ended && this.reading < this.parallel && this.waiting.length < this.parallel) {
      const range = new IdRange(this, this.start, this.start + this.width);
      this.start = range.to;
      this.reading++;
      this.waiting.push(range);
      void range.read();
    }
  }

  /** Aims the next ranges at the wanted number of rows, by the ids that some rows came from. */
  private aim(rows: number, ids: bigint): void {
    this.width = (BigInt(this.size.current * PAGES_PER_RANGE) * ids) / BigInt(rows);
  }
}

/** The ids above `after` up to `to`, read page by page ahead of whoever takes them. */
class IdRange {
  /** The server has nothing after the last row of this range. */
  ended = false;
  /** The first id after the range, where a response had it; otherwise 0. */
  nextId = 0n;
  /** What `take` throws after the pages before it. */
  failure: { readonly cause: unknown } | undefined;
  /** Rows received, and from how many ids they came: how dense the ids are here. */
  readonly seen = { rows: 0, ids: 0n };
  private readonly pages: Page[] = [];
  private finished = false;
  private isReleased = false;
  private wake = () => {};
  private onRoom = () => {};

  constructor(
    private readonly walk: RangeWalk,
    readonly after: bigint,
    readonly to: bigint,
  ) {}

  /** Reads the range; never rejects, `take` throws what went wrong. */
  async read(): Promise<void> {
    await this.readPages().catch((cause: unknown) => {
      this.failure = { cause };
    });
    this.finished = true;
    // Before others begin, which depend on what this one has seen.
    this.walk.onDone(this);
    this.release();
    this.wake();
  }

  /** The pages in order. */
  async *take(): AsyncGenerator<Page> {
    for (;;) {
      const page = this.pages.shift();
      if (page !== undefined) {
        this.onRoom();
        yield page;
      } else if (this.failure !== undefined) throw this.failure.cause;
      else if (this.finished) return;
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  private async readPages(): Promise<void> {
    const { walk } = this;
    const take = prefetcher(
      (after, onLastId) => walk.fetch({ after, most: Number(this.to - after) }, onLastId),
      (lastId) => {
        // Where there is room for both pages.
        if (!walk.areIdsRight || this.pages.length >= MAX_BUFFERED_PAGES - 1) return false;
        if (lastId >= this.to) this.release();
        return lastId < this.to;
      },
    );
    for (let last = this.after; last < this.to; ) {
      const requested = take(last);
      const page = await requested.page;
      if (requested.announced > last && page.lastId !== String(requested.announced)) walk.areIdsRight = false;
      if (page.rows.length === 0) {
        this.ended = true;
        return;
      }
      last = BigInt(page.lastId ?? 0);
      this.seen.rows += page.rows.length;
      this.seen.ids += last - BigInt(page.firstId ?? 0) + 1n;
      const within = page.rows.filter((row) => orderOf(row) <= this.to).length;
      this.nextId = orderOf(page.rows[within]);
      await this.buffer(truncatePage(page, within));
    }
  }

  private release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.walk.onAllRequested();
  }

  private async buffer(page: Page): Promise<void> {
    if (page.rows.length === 0) return;
    this.pages.push(page);
    this.wake();
    if (this.pages.length >= MAX_BUFFERED_PAGES) await new Promise<void>((resolve) => (this.onRoom = resolve));
  }
}
