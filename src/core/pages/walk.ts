import { API_PREFIX } from '../../catalog/catalog.ts';
import type { Operation } from '../../catalog/define.ts';
import type { Warning } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { localFailure } from '../failure.ts';
import type { ApiAnswer, ApiClient } from '../transport/client.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface WalkOptions {
  /** Repeated with every page. */
  readonly filter?: string | undefined;
  /** Names for `responseFields`; all fields where absent. */
  readonly fields?: readonly string[] | undefined;
  readonly pageSize: number;
  /** Stops after this many rows, without asking for more than that. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Page {
  readonly rows: readonly Row[];
  readonly warnings: readonly Warning[];
  readonly meta: Readonly<Record<string, unknown>> | null;
  readonly requestId: string | null;
}

/**
 * Every page of a bulk read, in ascending id order (contract §5): by cursor, or by page number where the endpoint has
 * no cursor (appointment histories). The first call by cursor sends `lastId=0`, which
 * also keeps endpoints that would answer newest first in id order (D16); only an empty `data` ends the walk. The next
 * page is fetched while the caller works on this one. Throws a Failure with exit code 8 (`pages.order`) on an id that
 * does not increase, and whatever a request throws: a failed page fails the walk.
 */
export async function* walkPages(client: ApiClient, operation: Operation, options: WalkOptions): AsyncGenerator<Page> {
  const walk = new Walk(client, operation, options);
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

class Walk {
  left: number;
  private last = 0n;
  private pageSize: number;
  private pages = 0;
  private fetched = 0;
  private readonly byNumber: boolean;
  private readonly client: ApiClient;
  private readonly operation: Operation;
  private readonly options: WalkOptions;
  private readonly stopping = new AbortController();

  constructor(client: ApiClient, operation: Operation, options: WalkOptions) {
    this.client = client;
    this.operation = operation;
    this.options = options;
    this.byNumber = operation.paging?.style === 'pages';
    this.pageSize = options.pageSize;
    this.left = options.limit ?? Number.POSITIVE_INFINITY;
    options.signal?.addEventListener('abort', this.relay, { once: true });
    if (options.signal?.aborted) this.relay();
  }

  async fetch(): Promise<Page> {
    const answer = await this.client.request({
      method: 'GET',
      path: API_PREFIX + this.operation.path,
      query: () => this.query(),
      onRetry: (notice) => {
        // A page that took too long is asked for in smaller pieces, for the rest of the run (contract §5).
        if (notice.status === 408) this.pageSize = smallerSize(this.pageSize, this.byNumber ? this.fetched : 0);
      },
      signal: this.stopping.signal,
    });
    this.pages++;
    const rows = readRows(answer).slice(0, this.left);
    for (const row of rows) this.advance(row, answer.requestId);
    this.left -= rows.length;
    this.fetched += rows.length;
    return { rows, warnings: answer.warnings, meta: answer.meta, requestId: answer.requestId };
  }

  stop(): void {
    this.options.signal?.removeEventListener('abort', this.relay);
    this.stopping.abort(new Error('The walk has ended.'));
  }

  private readonly relay = () => this.stopping.abort(this.options.signal?.reason);

  private query() {
    return {
      filter: this.options.filter || undefined,
      responseFields: this.options.fields?.join(','),
      // A page number counts pages of one size: the last one must not be asked for smaller.
      pageSize: this.byNumber ? this.pageSize : Math.min(this.pageSize, this.left),
      ...(this.byNumber ? { page: Math.ceil(this.fetched / this.pageSize) + 1 } : { lastId: this.last.toString() }),
    };
  }

  private advance(row: Row, requestId: string | null): void {
    const id = readId(row.id);
    if (id !== undefined && id > this.last) {
      this.last = id;
      return;
    }
    const what =
      id === undefined
        ? 'has a record without a usable id'
        : `has id ${id} after ${this.last}: ids must strictly increase`;
    throw localFailure('pages.order', `Page ${this.pages} of ${this.operation.path} ${what}.`, { requestId });
  }
}

/** About half a page size; one that divides what has been fetched, where pages are counted. */
function smallerSize(size: number, fetched: number): number {
  let smaller = Math.max(1, Math.floor(size / 2));
  while (fetched % smaller !== 0) smaller--;
  return smaller;
}

function readRows(answer: ApiAnswer): readonly Row[] {
  if (Array.isArray(answer.data) && answer.data.every(isPlainObject)) return answer.data;
  throw localFailure('response.malformed', 'The server sent a page whose data is not a list of records.', {
    requestId: answer.requestId,
  });
}

/** An id exactly, from a number or text (D1); undefined for anything that is not a whole number above 0. */
function readId(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 0 ? BigInt(value) : undefined;
  return typeof value === 'string' && /^[1-9]\d{0,30}$/.test(value) ? BigInt(value) : undefined;
}
