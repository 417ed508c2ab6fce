import type { Operation } from '../../catalog/define.ts';
import { Failure, localFailure } from '../failure.ts';
import type { ApiClient } from '../transport/client.ts';
import { countIfPossible } from './countall.ts';
import { forAllLocations, isRefused, mayBeUndated, mayWantLocation, wholeFilters } from './everything.ts';
import { mergeWalks, Unmergeable } from './merge.ts';
import { walkNumbered } from './numbered.ts';
import { cutPage } from './page.ts';
import { type ParallelOptions, walkParallel } from './parallel.ts';
import type { Proof } from './proof.ts';
import { SeenIds } from './seenids.ts';
import { inSlices, isTimeout, sliceKey } from './slices.ts';
import { isByCursor, START, type WalkedPage, type WalkPlace } from './walkplace.ts';

export interface CompleteOptions extends ParallelOptions {
  /** The operation that counts what the list lists, where the API has one that takes the filter. */
  readonly count?: Operation | undefined;
  /** Leaves it to the service which records it brings: no bound of ours, nothing compared. */
  readonly serverDefaults?: boolean;
  /** UTC milliseconds. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Called at the end of a walk that was not stopped. */
  readonly onProof?: (proof: Proof) => void;
}

/** Timeouts of one page after which a wide read is cut into slices of time, and after which a slice is made narrower. */
const MOST_TIMEOUTS = 3;
const MOST_SLICE_TIMEOUTS = 2;

/** How often rows that a count says are missing are looked for. */
const SECOND_LOOKS = 2;

/**
 * Every record that matches a filter, whatever the service would leave out by itself (D48), with a proof: the rows are
 * compared with the service's own count, and looked for once more where there are too few. In ascending id order where
 * the service has one. Throws `pages.incomplete` (exit 8) when fewer rows came than are counted, and whatever a walk throws.
 */
export async function* readComplete(
  client: ApiClient,
  operation: Operation,
  options: CompleteOptions,
): AsyncGenerator<WalkedPage> {
  yield* new CompleteRead(client, operation, options).pages();
}

/** What a service turned out to want, learned once for a whole read. */
interface Manners {
  /** The announced change has arrived: a filter on locations is required (specification, Versioning 2). */
  isLocationRequired: boolean;
  /** Asked by cursor it does not order by id: pages are counted instead. */
  isUnordered: boolean;
}

/** A walk that failed: what it asked for, how far it came, and whether it named the locations. */
interface FailedWalk {
  readonly filter: string | undefined;
  readonly last: WalkPlace;
  readonly isLocated: boolean;
}

class CompleteRead {
  private readonly client: ApiClient;
  private readonly operation: Operation;
  private readonly options: CompleteOptions;
  private readonly manners: Manners;
  /** Ids that came, remembered where rows may come twice. */
  private seen: SeenIds | undefined;
  private place: WalkPlace;
  private rows: number;
  private unread: string | null = null;

  constructor(
    client: ApiClient,
    operation: Operation,
    options: CompleteOptions,
    manners: Manners = { isLocationRequired: false, isUnordered: false },
  ) {
    this.client = client;
    this.operation = operation;
    this.options = options;
    this.manners = manners;
    this.place = options.from ?? START;
    this.rows = this.place.fetched;
    const mayRepeat = operation.newestFirst !== undefined || !isByCursor(operation);
    if (mayRepeat) this.seen = new SeenIds(BigInt(this.place.lastId));
  }

  async *pages(): AsyncGenerator<WalkedPage> {
    const { filter, serverDefaults = false, limit = Number.POSITIVE_INFINITY } = this.options;
    if (this.rows >= limit) return;
    const filters = serverDefaults ? [filter] : await this.filters();
    for await (const page of this.counting(this.all(filters))) {
      yield page;
      if (this.rows >= limit) break;
    }
    if (serverDefaults) this.prove('none', null, 'It was left to the server which records it brings.');
    else if (this.rows >= limit) this.prove('none', null, null);
    else yield* this.proven(filters);
  }

  /** One walk, in whichever way the service allows. */
  async *walk(filter: string | undefined, from: WalkPlace): AsyncGenerator<WalkedPage> {
    let last = from;
    const isLocated = this.manners.isLocationRequired;
    try {
      for await (const page of this.read(filter, from)) {
        last = page.place ?? last;
        yield page;
      }
      return;
    } catch (cause) {
      const other = this.otherWay(cause, { filter, last, isLocated });
      if (other === undefined) throw cause;
      yield* other;
    }
  }

  /** Filters that bring everything together. */
  private async filters(): Promise<readonly (string | undefined)[]> {
    const { filter, limit, count, signal } = this.options;
    const whole = wholeFilters(filter, this.operation);
    const [bounded] = whole;
    const isBounded = whole.length === 1 && bounded !== filter;
    if (!isBounded || limit !== undefined || !mayBeUndated(this.operation.dateLimit)) return whole;
    if (count === undefined) return [bounded, filter];
    const counts = [filter, bounded].map((each) => countIfPossible(this.client, count, each, signal));
    const [plain, dated] = await Promise.all(counts);
    return plain !== undefined && dated !== undefined && plain.total <= dated.total ? whole : [bounded, filter];
  }

  /** Cuts the pages at the limit, and keeps count. */
  private async *counting(pages: AsyncIterable<WalkedPage>): AsyncGenerator<WalkedPage> {
    const { limit = Number.POSITIVE_INFINITY } = this.options;
    for await (const page of pages) {
      const cut = cutPage(page, limit - this.rows);
      this.rows += cut.rows.length;
      this.place = page.place ?? this.place;
      yield { ...cut, place: cut.rows.length < page.rows.length ? undefined : page.place };
    }
  }

  private all(filters: readonly (string | undefined)[]): AsyncGenerator<WalkedPage> {
    const [first] = filters;
    if (filters.length === 1) return this.walk(first, this.place);
    return this.seen === undefined ? this.merged(filters) : this.oneAfterAnother(filters);
  }

  private async *merged(filters: readonly (string | undefined)[]): AsyncGenerator<WalkedPage> {
    try {
      yield* mergeWalks(filters.map((filter) => this.walk(filter, this.place)));
    } catch (cause) {
      if (!(cause instanceof Unmergeable)) throw cause;
      this.seen = new SeenIds(BigInt(this.place.lastId));
      yield* this.oneAfterAnother(filters);
    }
  }

  private async *oneAfterAnother(filters: readonly (string | undefined)[]): AsyncGenerator<WalkedPage> {
    const from = this.place;
    for (const filter of filters) yield* this.unresumable(this.walk(filter, from));
  }

  private async *read(filter: string | undefined, from: WalkPlace): AsyncGenerator<WalkedPage> {
    const { operation, options, manners, seen } = this;
    const asked = (manners.isLocationRequired && forAllLocations(filter, operation.filters)) || filter;
    const mostTimeouts = sliceKey(operation) === undefined ? undefined : (options.mostTimeouts ?? MOST_TIMEOUTS);
    const question = { ...options, filter: asked, from, mostTimeouts, seen };
    if (manners.isUnordered) return yield* walkNumbered(this.client, operation, question);
    const isByNumber = operation.paging?.style === 'pages';
    for await (const page of walkParallel(this.client, operation, question)) {
      yield seen === undefined || isByNumber ? page : seen.fresh(page);
    }
  }

  /** How to continue after a walk failed, undefined where there is no other way. */
  private otherWay(cause: unknown, failed: FailedWalk): AsyncGenerator<WalkedPage> | undefined {
    const { operation, manners, options } = this;
    const { filter, last, isLocated } = failed;
    if (!isLocated && mayWantLocation(cause, filter, operation.filters)) {
      manners.isLocationRequired = true;
      return this.walkOr(cause, filter, last);
    }
    if (isDisordered(cause) && this.seen !== undefined && !manners.isUnordered) {
      manners.isUnordered = true;
      return this.unresumable(this.walk(filter, last));
    }
    const isInSlice = options.mostTimeouts !== undefined;
    return isTimeout(cause) && !isInSlice && sliceKey(operation) !== undefined ? this.sliced(filter, last) : undefined;
  }

  /** Where the service refuses that walk as well, its first refusal is what matters. */
  private async *walkOr(refusal: unknown, filter: string | undefined, from: WalkPlace): AsyncGenerator<WalkedPage> {
    try {
      yield* this.walk(filter, from);
    } catch (cause) {
      throw isRefused(cause) ? refusal : cause;
    }
  }

  private async *sliced(filter: string | undefined, last: WalkPlace): AsyncGenerator<WalkedPage> {
    const { client, operation, manners } = this;
    const key = sliceKey(operation);
    if (key === undefined) return;
    this.seen ??= new SeenIds(BigInt(last.lastId));
    const options = { ...this.options, limit: undefined, mostTimeouts: MOST_SLICE_TIMEOUTS };
    const from = { lastId: last.lastId, fetched: 0 };
    const read = (slice: string) =>
      new CompleteRead(client, operation, { ...options, from }, manners).walk(slice, from);
    const onUnread = (what: string) => {
      this.unread = what;
    };
    const pages = inSlices(filter, key, this.options.now(), read, onUnread);
    for await (const page of pages) yield { ...this.seen.fresh(page), place: undefined };
  }

  private async *unresumable(pages: AsyncIterable<WalkedPage>): AsyncGenerator<WalkedPage> {
    for await (const page of pages) yield { ...page, place: undefined };
  }

  /** Compares the rows with the count, and looks for what is missing. */
  private async *proven(filters: readonly (string | undefined)[]): AsyncGenerator<WalkedPage> {
    const filter = filters.at(-1);
    let counted = await this.counted(filter);
    for (let looks = 0; counted !== undefined && this.rows < counted && looks < SECOND_LOOKS; looks++) {
      // By cursor what was added behind the last id; else all pages again, since rows may have moved between them.
      if (this.operation.newestFirst !== undefined) this.manners.isUnordered = true;
      yield* this.counting(this.all(filters));
      counted = await this.counted(filter);
    }
    if (counted === undefined) {
      this.prove(this.operation.dateLimit === undefined ? 'walk' : 'bound', null, this.unread);
      return;
    }
    if (this.rows < counted) throw incomplete(counted, this.rows);
    this.prove('count', counted, this.unread);
  }

  private async counted(filter: string | undefined): Promise<number | undefined> {
    const { count, signal } = this.options;
    if (count === undefined) return undefined;
    const asked = (this.manners.isLocationRequired && forAllLocations(filter, count.filters)) || filter;
    return (await countIfPossible(this.client, count, asked, signal))?.total;
  }

  private prove(by: Proof['by'], counted: number | null, unproved: string | null): void {
    this.options.onProof?.({ by, counted, unproved });
  }
}

function isDisordered(cause: unknown): boolean {
  return cause instanceof Failure && cause.code === 'pages.order';
}

function incomplete(counted: number, rows: number): Failure {
  const count = (number: number) => number.toLocaleString('en-US');
  return localFailure('pages.incomplete', `The server counts ${count(counted)} records, and ${count(rows)} came.`);
}
