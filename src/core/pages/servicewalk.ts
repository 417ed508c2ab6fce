import type { Operation } from '../../catalog/define.ts';
import { Failure } from '../failure.ts';
import type { ApiClient } from '../transport/client.ts';
import { forAllLocations, isRefused, mayBeUndated, mayRequireLocation, withEarlyBound } from './everything.ts';
import { walkNumbered } from './numbered.ts';
import { type ParallelOptions, walkParallel } from './parallel.ts';
import { SeenIds } from './seenids.ts';
import { inSlices, isTimeout, sliceKey } from './slices.ts';
import { isByCursor, type WalkedPage, type WalkPosition } from './walkplace.ts';

export interface ServiceWalkOptions extends ParallelOptions {
  /** UTC milliseconds. */
  readonly now: () => number;
}

/** Timeouts of one page after which a wide read is cut into slices of time, and after which a slice is made narrower. */
const MOST_TIMEOUTS = 3;
const MOST_SLICE_TIMEOUTS = 2;

/** What a service turned out to want, learned once for a whole read. */
interface Manners {
  /** The announced change has arrived: a filter on locations is required (specification, Versioning 2). */
  isLocationRequired: boolean;
  /** Asked by cursor it does not order by id: pages are counted instead. */
  isUnordered: boolean;
  /** A page of several rows has come in the order of their ids. */
  hasShownOrder: boolean;
}

/** A walk that failed: what it asked for, how far it came, and whether it named the locations. */
interface FailedWalk {
  readonly filter: string | undefined;
  readonly last: WalkPosition;
  readonly isLocated: boolean;
}

/** Walks a list in whichever way the service behind it allows: it finds out what that is, and keeps to it. */
export class ServiceWalk {
  /** What could not be asked for, as a sentence. */
  unread: string | null = null;
  /** Ids that came, remembered where rows may come twice. */
  seen: SeenIds | undefined;
  private readonly client: ApiClient;
  private readonly operation: Operation;
  private readonly options: ServiceWalkOptions;
  private readonly manners: Manners;

  /** `from`: rows up to there have come already. */
  constructor(
    client: ApiClient,
    operation: Operation,
    options: ServiceWalkOptions,
    from: WalkPosition,
    manners: Manners = { isLocationRequired: false, isUnordered: false, hasShownOrder: false },
  ) {
    this.client = client;
    this.operation = operation;
    this.options = options;
    this.manners = manners;
    const mayRepeat = operation.newestFirst !== undefined || !isByCursor(operation);
    if (mayRepeat) this.seen = new SeenIds(BigInt(from.lastId));
  }

  /** A filter as the service wants it. */
  located(filter: string | undefined): string | undefined {
    return (this.manners.isLocationRequired && forAllLocations(filter, this.operation.filters)) || filter;
  }

  /** From now on no cursor is trusted where a service may order otherwise: rows may have been passed over. */
  distrustOrder(): void {
    if (this.operation.newestFirst !== undefined) this.manners.isUnordered = true;
  }

  /** Whether pages are counted: a row that is deleted moves others to a page that may have been read already. */
  get isNumbered(): boolean {
    return this.manners.isUnordered || this.operation.paging?.style === 'pages';
  }

  /** Whether what came shows the order that it has: pages of one row each do not. */
  get isOrderKnown(): boolean {
    return this.operation.newestFirst === undefined || this.isNumbered || this.manners.hasShownOrder;
  }

  /** The rows that match a filter, after `from`; once they are out of order, pages have no place. Throws what no other way avoids. */
  async *walk(filter: string | undefined, from: WalkPosition): AsyncGenerator<WalkedPage> {
    let last = from;
    const isLocated = this.manners.isLocationRequired;
    try {
      for await (const page of this.read(filter, from)) {
        last = page.position ?? last;
        yield page;
      }
      return;
    } catch (cause) {
      const other = this.otherWay(cause, { filter, last, isLocated });
      if (other === undefined) throw cause;
      yield* other;
    }
  }

  private async *read(filter: string | undefined, from: WalkPosition): AsyncGenerator<WalkedPage> {
    const { operation, options, manners, seen } = this;
    const mostTimeouts = sliceKey(operation) === undefined ? undefined : (options.mostTimeouts ?? MOST_TIMEOUTS);
    const question = { ...options, filter: this.located(filter), from, mostTimeouts, seen };
    if (manners.isUnordered) return yield* walkNumbered(this.client, operation, question);
    const isByNumber = operation.paging?.style === 'pages';
    for await (const page of walkParallel(this.client, operation, question)) {
      manners.hasShownOrder ||= page.rows.length > 1;
      yield seen === undefined || isByNumber ? page : seen.fresh(page);
    }
  }

  /** How to continue after a walk failed, undefined where there is no other way. */
  private otherWay(cause: unknown, failed: FailedWalk): AsyncGenerator<WalkedPage> | undefined {
    const { operation, manners, options } = this;
    const { filter, last, isLocated } = failed;
    if (!isLocated && mayRequireLocation(cause, filter, operation.filters)) {
      manners.isLocationRequired = true;
      return this.walkOr(cause, filter, last);
    }
    if (isDisordered(cause) && this.seen !== undefined && !manners.isUnordered) {
      manners.isUnordered = true;
      return unresumable(this.walk(filter, last));
    }
    const isInSlice = options.mostTimeouts !== undefined;
    return isTimeout(cause) && !isInSlice && sliceKey(operation) !== undefined ? this.sliced(filter, last) : undefined;
  }

  /** Where the service refuses that walk as well, its first refusal is what matters. */
  private async *walkOr(refusal: unknown, filter: string | undefined, from: WalkPosition): AsyncGenerator<WalkedPage> {
    try {
      yield* this.walk(filter, from);
    } catch (cause) {
      throw isRefused(cause) ? refusal : cause;
    }
  }

  private async *sliced(filter: string | undefined, last: WalkPosition): AsyncGenerator<WalkedPage> {
    const { client, operation, manners } = this;
    const key = sliceKey(operation);
    if (key === undefined) return;
    this.seen ??= new SeenIds(BigInt(last.lastId));
    const options = { ...this.options, limit: undefined, mostTimeouts: MOST_SLICE_TIMEOUTS };
    const from = { lastId: last.lastId, fetched: 0 };
    const read = (slice: string) => new ServiceWalk(client, operation, options, from, manners).walk(slice, from);
    const onUnread = (what: string) => {
      this.unread = what;
    };
    const isForUndated = mayBeUndated(operation.dateLimit) && withEarlyBound(filter, operation) !== filter;
    if (isForUndated) onUnread('The server timed out on all of them at once, so there may be some without a date.');
    const pages = inSlices(filter, key, this.options.now(), read, onUnread);
    for await (const page of pages) yield { ...this.seen.fresh(page), position: undefined };
  }
}

/** Pages from which no later walk can resume. */
export async function* unresumable(pages: AsyncIterable<WalkedPage>): AsyncGenerator<WalkedPage> {
  for await (const page of pages) yield { ...page, position: undefined };
}

function isDisordered(cause: unknown): boolean {
  return cause instanceof Failure && cause.code === 'pages.order';
}
