import type { Operation } from '../../catalog/define.ts';
import { countText, quantity } from '../count.ts';
import { Failure, localFailure } from '../failure.ts';
import type { ApiClient } from '../transport/client.ts';
import { completeFilters, mayBeUndated } from './completefilters.ts';
import { countOnce } from './countall.ts';
import { mergeWalks, Unmergeable } from './merge.ts';
import { truncatePage } from './page.ts';
import { IdLog, SeenIds } from './seenids.ts';
import { ServiceWalk, type ServiceWalkOptions, unresumable } from './servicewalk.ts';
import { START, type WalkedPage, type WalkPosition } from './walkoptions.ts';

/** How a complete read is known to be complete (D48), for receipts and summaries. */
export interface Proof {
  /**
   * `count`: at least as many rows arrived as the service counts for the same filter. `bound`: no count; the filter has
   * an early bound, or what the bound may leave out was read as well. `walk`: no count and no date filter in the
   * specification; the list was read to its end. `mirror`: a mirror whose load is complete. `none`: not everything was
   * requested.
   */
  readonly by: 'count' | 'bound' | 'walk' | 'mirror' | 'none';
  /** The service's count at the end; null where it does not count. */
  readonly counted: number | null;
  /** What could not be read, or why nothing is proved; null where all of it is. */
  readonly unproved: string | null;
}

/** Options of a complete read. */
export interface CompleteOptions extends ServiceWalkOptions {
  /** The operation that counts what the list lists, where the API has one that takes the filter. */
  readonly count?: Operation | undefined;
  /** Leaves the choice of records to the service: no bound of ours, nothing compared. */
  readonly serverDefaults?: boolean;
  readonly signal: AbortSignal;
  /** Called at the end of a walk that was not interrupted. */
  readonly onProof?: (proof: Proof) => void;
}

/** Maximum passes of one kind over a list; one that brings nothing new is the last. */
const MAX_PASSES = 3;

/**
 * Every record that matches a filter, whatever the service would leave out on its own (D48), with a proof: the rows are
 * compared with the service's own count, and read again where there are too few, as long as that brings some. In ascending id order where the
 * service has one. Throws `pages.incomplete` (exit 8) when fewer rows arrived than are counted, and whatever a walk
 * throws.
 */
export function readComplete(
  client: ApiClient,
  operation: Operation,
  options: CompleteOptions,
): AsyncGenerator<WalkedPage> {
  return new CompleteRead(client, operation, options).pages();
}

/** What a service counts for each of several filters; undefined where it does not count. */
type Counts = readonly (number | undefined)[];

class CompleteRead {
  private readonly service: ServiceWalk;
  /** Ids that arrived, where `service` does not remember them. */
  private readonly ids: IdLog;
  private position: WalkPosition;
  private rows: number;
  /** The counts before the first of numbered pages. */
  private before: Counts = [];

  constructor(
    private readonly client: ApiClient,
    private readonly operation: Operation,
    private readonly options: CompleteOptions,
  ) {
    this.position = options.from ?? START;
    this.rows = this.position.fetched;
    this.service = new ServiceWalk(client, operation, options, this.position);
    this.ids = new IdLog(BigInt(this.position.lastId));
  }

  async *pages(): AsyncGenerator<WalkedPage> {
    const { filter, serverDefaults = false, limit = Number.POSITIVE_INFINITY } = this.options;
    const filters = serverDefaults ? [filter] : this.filters();
    if (this.service.isNumbered) this.before = await this.counts(filters);
    for await (const page of this.counting(this.all(filters))) {
      yield page;
      if (this.rows >= limit) break;
    }
    if (serverDefaults) this.prove('none', null, 'The choice of records was left to the server.');
    else if (this.rows >= limit) this.prove('none', null, null);
    else yield* this.proven(filters);
  }

  /** Filters that together bring everything, or all but what only a count can show. */
  private filters(): readonly (string | undefined)[] {
    const { filter, count } = this.options;
    const filters = completeFilters(filter, this.operation);
    return this.mayLackUndated(filters) && count === undefined ? [...filters, filter] : filters;
  }

  /** Whether records without a date may exist that the bound of the only filter leaves out. */
  private mayLackUndated([first, ...more]: readonly (string | undefined)[]): boolean {
    return more.length === 0 && first !== this.options.filter && mayBeUndated(this.operation.dateLimit);
  }

  /** Truncates the pages at the limit, and counts their rows. */
  private async *counting(pages: AsyncIterable<WalkedPage>): AsyncGenerator<WalkedPage> {
    const { limit = Number.POSITIVE_INFINITY } = this.options;
    for await (const page of pages) {
      const cut = truncatePage(page, limit - this.rows);
      this.rows += cut.rows.length;
      if (this.service.seen === undefined) this.ids.add(cut.rows);
      this.position = page.position ?? this.position;
      yield { ...cut, position: cut.rows.length < page.rows.length ? undefined : page.position };
    }
  }

  private all(filters: readonly (string | undefined)[]): AsyncGenerator<WalkedPage> {
    const [first] = filters;
    if (filters.length === 1) return this.service.walk(first, this.position);
    return this.service.seen === undefined ? this.merged(filters) : this.oneAfterAnother(filters);
  }

  private async *merged(filters: readonly (string | undefined)[]): AsyncGenerator<WalkedPage> {
    try {
      yield* mergeWalks(filters.map((filter) => this.service.walk(filter, this.position)));
    } catch (cause) {
      if (!(cause instanceof Unmergeable)) throw cause;
      this.service.seen = new SeenIds(BigInt(this.position.lastId));
      yield* this.oneAfterAnother(filters);
    }
  }

  private async *oneAfterAnother(filters: readonly (string | undefined)[]): AsyncGenerator<WalkedPage> {
    for (const filter of filters) yield* unresumable(this.service.walk(filter, this.position));
  }

  /** Compares the rows with the count, and reads what is missing. */
  private async *proven(dated: readonly (string | undefined)[]): AsyncGenerator<WalkedPage> {
    const { filter, limit = Number.POSITIVE_INFINITY } = this.options;
    const mayLackUndated = this.mayLackUndated(dated);
    const filters = mayLackUndated ? [...dated, filter] : dated;
    let counts = await this.counts(filters);
    const [datedCount, plainCount] = counts;
    // Counts that differ may do so by records without a date, which a limit of the service's own can hide or not.
    if (mayLackUndated && (plainCount === undefined || plainCount !== datedCount))
      yield* this.extra(this.undated(dated[0]));
    if (most(counts) === 0 && !this.service.isOrderKnown) yield* this.extra(this.afterTheLast(dated));
    if (this.service.isNumbered && !isSame(counts, this.before)) {
      // One that was deleted meanwhile may have hidden another.
      yield* this.passes(() => this.fromTheStart(filters));
      counts = await this.counts(filters);
    }
    const isEnough = () => this.rows >= Math.min(most(counts), limit);
    for (const read of [() => this.afterTheLast(dated), () => this.fromTheStart(filters)]) {
      if (isEnough()) break;
      // More may be added before the next count: as long as a pass finds some, another one may find the rest.
      yield* this.passes(read, async () => {
        counts = await this.counts(filters);
        return isEnough();
      });
    }
    const counted = most(counts);
    if (!isEnough()) throw incomplete(counted, this.rows);
    const { unread: unproved } = this.service;
    if (counts.some((count) => count !== undefined)) this.prove('count', counted, unproved);
    else this.prove(this.operation.dateLimit === undefined ? 'walk' : 'bound', null, unproved);
  }

  /** Further pages, from which no later run can resume. */
  private extra(pages: AsyncIterable<WalkedPage>): AsyncGenerator<WalkedPage> {
    return unresumable(this.counting(pages));
  }

  /** Rows that have no date: those of the plain filter that the bounded one did not bring. */
  private async *undated(bounded: string | undefined): AsyncGenerator<WalkedPage> {
    if (this.options.from !== undefined && this.options.from.fetched > 0) {
      // The rows of an earlier run are known by their last id alone, and rows without a date may lie before it.
      this.service.seen = new SeenIds();
      for await (const _page of this.service.walk(bounded, START));
    }
    yield* this.fromTheStart([this.options.filter]);
  }

  /** Rows added since the walk ended; all pages again where they have no order. */
  private afterTheLast(filters: readonly (string | undefined)[]): AsyncGenerator<WalkedPage> {
    this.service.distrustOrder();
    return this.all(filters);
  }

  /** Passes of one kind, until one brings nothing new or `isLast` says so after it. */
  private async *passes(
    read: () => AsyncIterable<WalkedPage>,
    isLast?: () => Promise<boolean>,
  ): AsyncGenerator<WalkedPage> {
    for (let passes = 0, before = -1; passes < MAX_PASSES && this.rows > before; passes++) {
      before = this.rows;
      yield* this.extra(read());
      if (await isLast?.()) return;
    }
  }

  /** All rows but those that arrived: some may have been added before the last id, since ids need not rise. */
  private fromTheStart(filters: readonly (string | undefined)[]): AsyncGenerator<WalkedPage> {
    this.service.seen ??= this.ids.seen();
    this.position = START;
    return this.oneAfterAnother(filters);
  }

  private async counts(filters: readonly (string | undefined)[]): Promise<Counts> {
    const { count, signal } = this.options;
    if (count === undefined) return [];
    const counting = filters.map(async (filter) => {
      try {
        return (await countOnce(this.client, count, this.service.located(filter), signal)).total;
      } catch (cause) {
        signal.throwIfAborted();
        // What cannot be counted is not proved, and not lost.
        if (!(cause instanceof Failure)) throw cause;
        return undefined;
      }
    });
    return Promise.all(counting);
  }

  private prove(by: Proof['by'], counted: number | null, unproved: string | null): void {
    this.options.onProof?.({ by, counted, unproved });
  }
}

/** The largest of the counts; 0 where none is known. */
function most(counts: Counts): number {
  return Math.max(0, ...counts.map((count) => count ?? 0));
}

/** Whether counts are known and the same as before. */
function isSame(counts: Counts, before: Counts): boolean {
  return counts.length > 0 && counts.every((count, at) => count !== undefined && count === before[at]);
}

function incomplete(counted: number, rows: number): Failure {
  const message = `The server counts ${quantity(counted, 'record')}, but ${countText(rows)} arrived.`;
  return localFailure('pages.incomplete', message);
}
