import type { Operation } from '../../catalog/define.ts';
import { Failure, localFailure } from '../failure.ts';
import type { ApiClient } from '../transport/client.ts';
import { countIfAllowed } from './countall.ts';
import { mayBeUndated, wholeFilters } from './everything.ts';
import { IdLog } from './idlog.ts';
import { mergeWalks, Unmergeable } from './merge.ts';
import { cutPage } from './page.ts';
import type { Proof } from './proof.ts';
import { SeenIds } from './seenids.ts';
import { ServiceWalk, type ServiceWalkOptions, unresumable } from './servicewalk.ts';
import { START, type WalkedPage, type WalkPlace } from './walkplace.ts';

export interface CompleteOptions extends ServiceWalkOptions {
  /** The operation that counts what the list lists, where the API has one that takes the filter. */
  readonly count?: Operation | undefined;
  /** Leaves it to the service which records it brings: no bound of ours, nothing compared. */
  readonly serverDefaults?: boolean;
  readonly signal: AbortSignal;
  /** Called at the end of a walk that was not stopped. */
  readonly onProof?: (proof: Proof) => void;
}

/** What an early bound leaves out, which only a count could show. */
const UNDATED = 'The server does not count them, so there may be some without a date.';

/**
 * Every record that matches a filter, whatever the service would leave out by itself (D48), with a proof: the rows are
 * compared with the service's own count, and looked for once more where there are too few. In ascending id order where
 * the service has one. Throws `pages.incomplete` (exit 8) when fewer rows came than are counted, and whatever a walk throws.
 */
export function readComplete(
  client: ApiClient,
  operation: Operation,
  options: CompleteOptions,
): AsyncGenerator<WalkedPage> {
  return new CompleteRead(client, operation, options).pages();
}

class CompleteRead {
  private readonly client: ApiClient;
  private readonly operation: Operation;
  private readonly options: CompleteOptions;
  private readonly service: ServiceWalk;
  /** Ids that came, where the service does not remember them. */
  private readonly ids: IdLog;
  private place: WalkPlace;
  private rows: number;

  constructor(client: ApiClient, operation: Operation, options: CompleteOptions) {
    this.client = client;
    this.operation = operation;
    this.options = options;
    this.place = options.from ?? START;
    this.rows = this.place.fetched;
    this.service = new ServiceWalk(client, operation, options, this.place);
    this.ids = new IdLog(BigInt(this.place.lastId));
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

  /** Filters that bring everything together. */
  private async filters(): Promise<readonly (string | undefined)[]> {
    const { filter, limit, count, signal } = this.options;
    const whole = wholeFilters(filter, this.operation);
    const [bounded] = whole;
    const isBounded = whole.length === 1 && bounded !== filter;
    if (!isBounded || limit !== undefined || !mayBeUndated(this.operation.dateLimit)) return whole;
    if (count === undefined) return [bounded, filter];
    const plain = await countIfAllowed(this.client, count, filter, signal);
    const dated = await countIfAllowed(this.client, count, bounded, signal);
    // Counts that differ either way may do so by records without a date: a limit of the service's own can hide them or not.
    return plain !== undefined && plain.total !== dated?.total ? [bounded, filter] : whole;
  }

  /** Cuts the pages at the limit, and keeps count. */
  private async *counting(pages: AsyncIterable<WalkedPage>): AsyncGenerator<WalkedPage> {
    const { limit = Number.POSITIVE_INFINITY } = this.options;
    for await (const page of pages) {
      const cut = cutPage(page, limit - this.rows);
      this.rows += cut.rows.length;
      if (this.service.seen === undefined) this.ids.add(cut.rows);
      this.place = page.place ?? this.place;
      yield { ...cut, place: cut.rows.length < page.rows.length ? undefined : page.place };
    }
  }

  private all(filters: readonly (string | undefined)[]): AsyncGenerator<WalkedPage> {
    const [first] = filters;
    if (filters.length === 1) return this.service.walk(first, this.place);
    return this.service.seen === undefined ? this.merged(filters) : this.oneAfterAnother(filters);
  }

  private async *merged(filters: readonly (string | undefined)[]): AsyncGenerator<WalkedPage> {
    try {
      yield* mergeWalks(filters.map((filter) => this.service.walk(filter, this.place)));
    } catch (cause) {
      if (!(cause instanceof Unmergeable)) throw cause;
      this.service.seen = new SeenIds(BigInt(this.place.lastId));
      yield* this.oneAfterAnother(filters);
    }
  }

  private async *oneAfterAnother(filters: readonly (string | undefined)[]): AsyncGenerator<WalkedPage> {
    const from = this.place;
    for (const filter of filters) yield* unresumable(this.service.walk(filter, from));
  }

  /** Compares the rows with the count, and looks for what is missing. */
  private async *proven(filters: readonly (string | undefined)[]): AsyncGenerator<WalkedPage> {
    let counted = await this.counted(filters);
    for (const look of [() => this.behindTheLast(filters), () => this.fromTheStart(filters)]) {
      if (counted === undefined || this.rows >= counted) break;
      yield* unresumable(this.counting(look()));
      counted = await this.counted(filters);
    }
    if (counted === undefined) {
      this.proveUncounted(filters);
      return;
    }
    if (this.rows < counted) throw incomplete(counted, this.rows);
    this.prove('count', counted, this.service.unread);
  }

  /** Rows that were added since the walk ended; all pages again where they have no order. */
  private behindTheLast(filters: readonly (string | undefined)[]): AsyncGenerator<WalkedPage> {
    this.service.distrustOrder();
    return this.all(filters);
  }

  /** All rows but those that came: some may have been added before the last id, since ids need not rise. */
  private fromTheStart(filters: readonly (string | undefined)[]): AsyncGenerator<WalkedPage> {
    this.service.seen ??= this.ids.seen();
    this.place = START;
    return this.oneAfterAnother(filters);
  }

  private proveUncounted(filters: readonly (string | undefined)[]): void {
    const { dateLimit } = this.operation;
    const isBounded = filters.length === 1 && filters[0] !== this.options.filter;
    const mayLack = isBounded && mayBeUndated(dateLimit) ? UNDATED : null;
    this.prove(dateLimit === undefined ? 'walk' : 'bound', null, this.service.unread ?? mayLack);
  }

  /** The most that any of the filters counts; undefined where none is counted. */
  private async counted(filters: readonly (string | undefined)[]): Promise<number | undefined> {
    const { count, signal } = this.options;
    let most: number | undefined;
    if (count === undefined) return undefined;
    try {
      for (const filter of filters) {
        const counted = await countIfAllowed(this.client, count, this.service.located(filter), signal);
        if (counted !== undefined) most = Math.max(most ?? 0, counted.total);
      }
    } catch (cause) {
      signal.throwIfAborted();
      // All pages have come: what cannot be counted is not proved, and not lost.
      if (!(cause instanceof Failure)) throw cause;
    }
    return most;
  }

  private prove(by: Proof['by'], counted: number | null, unproved: string | null): void {
    this.options.onProof?.({ by, counted, unproved });
  }
}

function incomplete(counted: number, rows: number): Failure {
  const count = (number: number) => number.toLocaleString('en-US');
  return localFailure('pages.incomplete', `The server counts ${count(counted)} records, and ${count(rows)} came.`);
}
