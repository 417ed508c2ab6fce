import type { Operation } from '../../catalog/define.ts';
import type { FilterKey } from '../../catalog/filter/check.ts';
import { Failure } from '../failure.ts';
import type { ApiClient } from '../transport/client.ts';
import { forAllLocations, isRefused, mayBeUndated, mayRequireLocation, withEarlyBound } from './completefilters.ts';
import { walkNumbered } from './numbered.ts';
import { type ParallelOptions, walkParallel } from './parallel.ts';
import { SeenIds } from './seenids.ts';
import { inSlices, isTimeout, sliceKey } from './slices.ts';
import { isByCursor, isByNumber, type WalkedPage, type WalkPosition } from './walkoptions.ts';

/** Options of a walk that adapts to the service. */
export interface ServiceWalkOptions extends ParallelOptions {
  /** UTC milliseconds. */
  readonly now: () => number;
}

/** Timeouts of one page before a wide read is cut into slices of time, and before a slice is made narrower. */
const MAX_TIMEOUTS = 3;
const MAX_SLICE_TIMEOUTS = 2;

/** How a service turned out to behave, learned once for a complete read. */
class Behaviour {
  /** The announced change has arrived: a filter on locations is required (specification, Versioning 2). */
  isLocationRequired = false;
  /** By cursor it does not order by id: pages are numbered instead. */
  isUnordered = false;
  /** A page of several rows arrived in the order of their ids. */
  hasShownOrder = false;
}

/** A walk that failed: its filter, how far it came, and whether it named the locations. */
interface FailedWalk {
  readonly filter: string | undefined;
  readonly last: WalkPosition;
  readonly isLocated: boolean;
}

/** Walks a list in whichever way the service allows: it finds out which, and stays with it. */
export class ServiceWalk {
  /** What could not be read, as a sentence. */
  unread: string | null = null;
  /** Ids that arrived, remembered where rows may be repeated. */
  seen: SeenIds | undefined;

  /** `from`: rows up to there have arrived already. */
  constructor(
    private readonly client: ApiClient,
    private readonly operation: Operation,
    private readonly options: ServiceWalkOptions,
    from: WalkPosition,
    private readonly behaviour = new Behaviour(),
  ) {
    const mayRepeat = operation.newestFirst !== undefined || !isByCursor(operation);
    if (mayRepeat) this.seen = new SeenIds(BigInt(from.lastId));
  }

  /** A filter as the service wants it. */
  located(filter: string | undefined): string | undefined {
    return (this.behaviour.isLocationRequired && forAllLocations(filter, this.operation.filters)) || filter;
  }

  /** From now on no cursor is trusted where a service may order otherwise: rows may have been skipped. */
  distrustOrder(): void {
    if (this.operation.newestFirst !== undefined) this.behaviour.isUnordered = true;
  }

  /** Whether pages are numbered: a deleted row moves others to a page that may have been read already. */
  get isNumbered(): boolean {
    return this.behaviour.isUnordered || isByNumber(this.operation);
  }

  /** Whether the pages so far show their order: pages of one row each do not. */
  get isOrderKnown(): boolean {
    return this.operation.newestFirst === undefined || this.isNumbered || this.behaviour.hasShownOrder;
  }

  /** The rows that match a filter, after `from`, without positions once out of order. Throws what no other way avoids. */
  async *walk(filter: string | undefined, from: WalkPosition): AsyncGenerator<WalkedPage> {
    let last = from;
    const isLocated = this.behaviour.isLocationRequired;
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
    const { operation, options, behaviour, seen } = this;
    const mostTimeouts = sliceKey(operation) === undefined ? undefined : (options.mostTimeouts ?? MAX_TIMEOUTS);
    const walkOptions = { ...options, filter: this.located(filter), from, mostTimeouts, seen };
    if (behaviour.isUnordered) return yield* walkNumbered(this.client, operation, walkOptions);
    for await (const page of walkParallel(this.client, operation, walkOptions)) {
      behaviour.hasShownOrder ||= page.rows.length > 1;
      yield seen === undefined || isByNumber(operation) ? page : seen.fresh(page);
    }
  }

  /** How to continue after a walk failed, undefined where there is no other way. */
  private otherWay(cause: unknown, failed: FailedWalk): AsyncGenerator<WalkedPage> | undefined {
    const { operation, behaviour, options } = this;
    const { filter, last, isLocated } = failed;
    if (!isLocated && mayRequireLocation(cause, filter, operation.filters)) {
      behaviour.isLocationRequired = true;
      return this.walkOr(cause, filter, last);
    }
    if (isDisordered(cause) && this.seen !== undefined && !behaviour.isUnordered) {
      behaviour.isUnordered = true;
      return this.walk(filter, last);
    }
    const isInSlice = options.mostTimeouts !== undefined;
    const key = sliceKey(operation);
    return isTimeout(cause) && !isInSlice && key !== undefined ? this.sliced(key, filter, last) : undefined;
  }

  /** Walks again; where the service refuses that as well, its first refusal is thrown. */
  private async *walkOr(refusal: unknown, filter: string | undefined, from: WalkPosition): AsyncGenerator<WalkedPage> {
    try {
      yield* this.walk(filter, from);
    } catch (cause) {
      throw isRefused(cause) ? refusal : cause;
    }
  }

  private async *sliced(key: FilterKey, filter: string | undefined, last: WalkPosition): AsyncGenerator<WalkedPage> {
    const { client, operation, behaviour } = this;
    this.seen ??= new SeenIds(BigInt(last.lastId));
    const options = { ...this.options, limit: undefined, mostTimeouts: MAX_SLICE_TIMEOUTS };
    const read = (slice: string) => new ServiceWalk(client, operation, options, last, behaviour).walk(slice, last);
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
