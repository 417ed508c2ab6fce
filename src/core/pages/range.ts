import type { Operation } from '../../catalog/define.ts';
import type { ApiClient } from '../transport/client.ts';
import { Prefetcher } from './askahead.ts';
import { fetchPage, idOf, type Page, type PageOptions, type PageSize, truncatePage } from './page.ts';

/** What the ranges of one walk share. */
export interface RangeContext {
  readonly client: ApiClient;
  readonly operation: Operation;
  readonly question: PageOptions;
  readonly size: PageSize;
  readonly signal: AbortSignal;
  /** Answers have named the last ids of their pages as they are. One that did not ends all asking ahead. */
  areIdsRight: boolean;
  /** Called once for each range, as soon as it has asked for its last page as far as that is known. */
  readonly onAsked: () => void;
  /** Called when a range asks nothing more, before its last page can be taken. */
  readonly onDone: (range: IdRange) => void;
}

/** Pages of a range kept before they are wanted; a range with more rows than expected waits then. */
const KEPT_PAGES = 4;

/** The ids above `after` up to `to`, read page by page ahead of whoever takes them. */
export class IdRange {
  /** The server answered that nothing comes after the last row of this range. */
  ended = false;
  /** The first id behind the range, where an answer told it. */
  nextId: bigint | undefined;
  /** Rows of its answers, and from how many ids they came: how dense the ids are here. */
  readonly seen = { rows: 0, ids: 0n };
  readonly after: bigint;
  readonly to: bigint;
  private readonly pages: Page[] = [];
  private failure: { readonly cause: unknown } | undefined;
  private finished = false;
  private hasAsked = false;
  private wake = () => {};
  private room = () => {};

  constructor(after: bigint, to: bigint) {
    this.after = after;
    this.to = to;
  }

  /** Reading went wrong; `take` throws why. */
  get failed(): boolean {
    return this.failure !== undefined;
  }

  /** Reads the range; never rejects, what went wrong comes out of `take`. */
  async read(ranging: RangeContext): Promise<void> {
    try {
      await this.readPages(ranging);
    } catch (cause) {
      this.failure = { cause };
    }
    this.finished = true;
    this.release(ranging);
    ranging.onDone(this);
    this.wake();
  }

  /** The pages in order; throws what reading threw, after the pages before it. */
  async *take(): AsyncGenerator<Page> {
    for (;;) {
      const page = this.pages.shift();
      if (page !== undefined) {
        this.room();
        yield page;
      } else if (this.failure !== undefined) throw this.failure.cause;
      else if (this.finished) return;
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** Lets go of a reader that waits for room, once nobody takes its pages any more. */
  leave(): void {
    this.pages.length = 0;
    this.room();
  }

  private async readPages(ranging: RangeContext): Promise<void> {
    const asking = this.askingAhead(ranging);
    for (let last = this.after; last < this.to; ) {
      ranging.signal.throwIfAborted();
      const asked = asking.take(last);
      const page = await asked.page;
      if (asked.announced > last && page.lastId !== String(asked.announced)) ranging.areIdsRight = false;
      if (page.firstId === null || page.lastId === null) {
        this.ended = true;
        return;
      }
      this.seen.rows += page.rows.length;
      this.seen.ids += BigInt(page.lastId) - BigInt(page.firstId) + 1n;
      last = BigInt(page.lastId);
      const beyond = page.rows.findIndex((row) => (idOf(row) ?? 0n) > this.to);
      if (beyond >= 0) this.nextId = idOf(page.rows[beyond] ?? {});
      await this.keep(beyond < 0 ? page : truncatePage(page, beyond));
    }
  }

  private askingAhead(ranging: RangeContext): Prefetcher {
    const { client, operation, question, size, signal } = ranging;
    return new Prefetcher(
      (after, onLastId) => {
        const place = { after, most: Number(this.to - after) };
        return fetchPage(client, operation, { question, place, size, onLastId, signal });
      },
      (lastId) => {
        // Where there is room for both pages.
        if (!ranging.areIdsRight || this.pages.length >= KEPT_PAGES - 1) return false;
        if (lastId >= this.to) this.release(ranging);
        return lastId < this.to;
      },
    );
  }

  private release({ onAsked }: RangeContext): void {
    if (this.hasAsked) return;
    this.hasAsked = true;
    onAsked();
  }

  private async keep(page: Page): Promise<void> {
    if (page.rows.length === 0) return;
    this.pages.push(page);
    this.wake();
    if (this.pages.length >= KEPT_PAGES) await new Promise<void>((resolve) => (this.room = resolve));
  }
}
