import type { Operation } from '../../catalog/define.ts';
import type { ApiClient } from '../transport/client.ts';
import { fetchPage, type Page, PageSize, truncatePage } from './page.ts';
import { IdRange, type RangeContext } from './range.ts';
import { walkPages } from './walk.ts';
import { isByCursor, START, type WalkedPage, type WalkOptions } from './walkplace.ts';
import { WalkStop } from './walkstop.ts';

export interface ParallelOptions extends WalkOptions {
  /** Requests at once; 1 walks one page after another. */
  readonly parallel: number;
}

/**
 * As `walkPages`, with several requests at once: the ids are cut into ranges that are read at the same time, and their
 * pages come out in id order, so the rows are those of a walk one after another. How wide a range is follows from how
 * dense the ids have been so far. The end is where a range finds nothing behind its last row; what ranges behind that
 * one found is left out, so that no row can be missing between two others. Endpoints that count pages are walked one
 * after another.
 */
export async function* walkParallel(
  client: ApiClient,
  operation: Operation,
  options: ParallelOptions,
): AsyncGenerator<WalkedPage> {
  const { limit = Number.POSITIVE_INFINITY, from = START } = options;
  const few = limit - from.fetched <= options.pageSize;
  if (options.parallel <= 1 || !isByCursor(operation) || few) {
    return yield* walkPages(client, operation, options);
  }
  const walk = new RangeWalk(client, operation, options, BigInt(from.lastId));
  let { fetched } = from;
  try {
    for await (const page of walk.pages()) {
      const cut = truncatePage(page, limit - fetched);
      fetched += cut.rows.length;
      yield { ...cut, position: { lastId: cut.lastId ?? from.lastId, fetched } };
      if (fetched >= limit) return;
    }
  } finally {
    walk.end();
  }
}

/** Pages that a range should hold: few, since ranges wait in memory for those before them. */
const PAGES_OF_RANGE = 3;

class RangeWalk {
  private readonly ranging: RangeContext;
  private readonly parallel: number;
  private readonly waiting: IdRange[] = [];
  private readonly stop: WalkStop;
  private reading = 0;
  private ended = false;
  /** Where the next range begins, and how many ids it has. */
  private start: bigint;
  private width = 1n;

  constructor(client: ApiClient, operation: Operation, options: ParallelOptions, start: bigint) {
    this.start = start;
    this.parallel = options.parallel;
    this.stop = new WalkStop(options.signal);
    this.ranging = {
      client,
      operation,
      question: options,
      size: new PageSize(options.pageSize),
      signal: this.stop.signal,
      areIdsRight: true,
      onAsked: () => {
        this.reading--;
        this.fill();
      },
      onDone: (range) => this.done(range),
    };
  }

  async *pages(): AsyncGenerator<Page> {
    yield* this.firstPages();
    while (!this.ended || this.waiting.length > 0) {
      this.fill();
      const range = this.waiting.shift();
      if (range === undefined) throw new Error('No range is left, and the end has not been seen.');
      yield* range.take();
      if (range.ended) return;
    }
  }

  end(): void {
    this.stop.end();
    for (const range of this.waiting) range.leave();
  }

  /**
   * Pages one after another up to the first full one: only then is there more to come, and known how dense ids are. A
   * service may have smaller pages than asked for: one as long as the one before it is full, too.
   */
  private async *firstPages(): AsyncGenerator<Page> {
    const { client, operation, question, size, signal } = this.ranging;
    let before = Number.POSITIVE_INFINITY;
    for (;;) {
      const place = { after: this.start, most: Number.POSITIVE_INFINITY };
      const page = await fetchPage(client, operation, { question, place, size, signal });
      if (page.firstId === null || page.lastId === null) {
        this.ended = true;
        return;
      }
      this.start = BigInt(page.lastId);
      const { length } = page.rows;
      const isFull = length >= Math.min(page.pageSize, before);
      before = length;
      if (isFull) {
        size.current = length;
        this.aim(length, this.start - BigInt(page.firstId) + 1n);
        this.fill();
      }
      yield page;
      if (isFull) return;
    }
  }

  /** Keeps as many ranges in work as asked for. */
  private fill(): void {
    while (!this.ended && this.reading < this.parallel && this.waiting.length < this.parallel) {
      const range = new IdRange(this.start, this.start + this.width);
      this.start = range.to;
      this.reading++;
      this.waiting.push(range);
      void range.read(this.ranging);
    }
  }

  private done(range: IdRange): void {
    if (range.ended || range.failed) this.ended = true;
    // Ids between two ranges that no record has need not be asked for.
    if (range.nextId !== undefined && range.nextId > this.start + 1n) this.start = range.nextId - 1n;
    if (range.seen.rows > 0) this.aim(range.seen.rows, range.seen.ids);
    this.fill();
  }

  /** Aims the next ranges at the wanted number of rows, by the ids that some rows came from. */
  private aim(rows: number, ids: bigint): void {
    const wanted = BigInt(this.ranging.size.current * PAGES_OF_RANGE);
    const width = (wanted * ids) / BigInt(rows);
    this.width = width < wanted ? wanted : width;
  }
}
