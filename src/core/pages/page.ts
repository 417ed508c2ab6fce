import { API_PREFIX } from '../../catalog/catalog.ts';
import type { Operation } from '../../catalog/define.ts';
import type { Warning } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { Failure, localFailure } from '../failure.ts';
import { ApiFailure } from '../transport/apifailure.ts';
import type { ApiClient, ApiRequest, ApiResponse, Query } from '../transport/client.ts';
import { bodyText, type Envelope, readEnvelope } from '../transport/envelope.ts';
import { RETRYABLE_STATUSES } from '../transport/retry.ts';

/** A record: values by field name. */
export type Row = Readonly<Record<string, unknown>>;

/** Some records. */
export interface RowPage {
  readonly rows: readonly Row[];
}

/** One page of a list. */
export interface Page extends RowPage {
  readonly meta: Readonly<Record<string, unknown>> | null;
  readonly requestId: string | null;
  /** Ids of the first and the last row, exact; null on an empty page. */
  readonly firstId: string | null;
  readonly lastId: string | null;
  /** The size that was requested. */
  readonly pageSize: number;
}

/** One turn of the event loop; `node:timers/promises` has the same, and would load readline with it. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** What is the same for every page of a walk. */
export interface PageOptions {
  readonly filter?: string | undefined;
  /** Names for `responseFields`; all fields where absent. */
  readonly fields?: readonly string[] | undefined;
  /** Makes records with ids of the bytes of a page; parses JSON where absent. */
  readonly read?: ((body: Uint8Array) => Envelope | undefined) | undefined;
  /** Called with the server's time in each response, UTC milliseconds. */
  readonly onServerTime?: ((time: number) => void) | undefined;
  /** Called with the warnings of each response. */
  readonly onWarnings?: ((warnings: readonly Warning[]) => void) | undefined;
  /** Timeouts (408) of one page that end in a PageTimeout; as many as retries allow where absent. */
  readonly mostTimeouts?: number | undefined;
}

/** Records requested at a time: one size for a run, made smaller when a page takes too long (contract §5). */
export class PageSize {
  current: number;

  constructor(size: number) {
    this.current = size;
  }

  /** After a timeout of a page of `size`: half of it, once for all parallel requests of that size. */
  shrink(size: number): void {
    this.current = Math.min(this.current, Math.max(1, Math.floor(size / 2)));
  }
}

/**
 * Which page: the one after an id, of no more than `most` rows, in ascending order unless `inAnyOrder`; the one of a
 * number, from 1; or whatever the service sends when no page is named.
 */
export type PageTarget =
  | { readonly after: bigint; readonly most: number; readonly inAnyOrder?: boolean }
  | { readonly page: number }
  | 'all';

/** The server timed out as often as the walk allows; a smaller request may succeed. */
export class PageTimeout extends ApiFailure {
  constructor() {
    super(408, [], null);
    this.name = 'PageTimeout';
  }
}

interface PageFetch {
  readonly options: PageOptions;
  readonly target: PageTarget;
  readonly size: PageSize;
  /** Called with what seems to be the last id of the page, before its records are read. */
  readonly onLastId?: ((id: bigint) => void) | undefined;
  readonly signal: AbortSignal;
}

/**
 * Requests one page. Throws a Failure with exit code 8 for data that is not a list of records or, by cursor, whose ids
 * do not strictly increase from `target.after` on (`pages.order`), a PageTimeout, and whatever the request throws.
 */
export async function fetchPage(
  client: ApiClient,
  operation: Operation,
  { options, target, size, onLastId, signal }: PageFetch,
): Promise<Page> {
  const { read = (body: Uint8Array) => readEnvelope(bodyText(body)), mostTimeouts = Number.POSITIVE_INFINITY } =
    options;
  let pageSize = size.current;
  let timeouts = 0;
  const cursor = target !== 'all' && 'after' in target ? target : undefined;
  const query = (): Query => {
    const common = { filter: options.filter || undefined, responseFields: options.fields?.join(',') };
    if (target === 'all') return common;
    // Page numbers count pages of one size: no page may be smaller than those before it.
    if ('page' in target) return { ...common, pageSize, page: target.page };
    pageSize = Math.min(size.current, target.most);
    return { ...common, pageSize, lastId: target.after.toString() };
  };
  const request: ApiRequest = {
    method: 'GET',
    path: API_PREFIX + operation.path,
    query,
    onRetry: ({ status }) => {
      if (status !== 408) return;
      if (++timeouts >= mostTimeouts) throw new PageTimeout();
      if (cursor !== undefined) size.shrink(pageSize);
    },
    read: async (body) => {
      if (onLastId === undefined) return read(body);
      const id = announcedLastId(body);
      if (id === undefined) return read(body);
      onLastId(id);
      // Parsing keeps this process busy: the next request goes out before.
      await nextTurn();
      return read(body);
    },
    onHead: ({ link }) => {
      const id = linkedLastId(link);
      if (id !== undefined) onLastId?.(id);
    },
    signal,
  };
  const response = await client.request(request).catch((cause: unknown) => {
    // What else went wrong in between does not matter: a smaller request may not time out.
    throw timeouts > 0 && Number.isFinite(mostTimeouts) && isPassing(cause) ? new PageTimeout() : cause;
  });
  const rows = readRows(response);
  const { warnings, meta, requestId, headers } = response;
  checkIds(rows, cursor?.inAnyOrder ? undefined : cursor?.after, operation, requestId);
  const time = Date.parse(headers.date ?? '');
  if (!Number.isNaN(time)) options.onServerTime?.(time);
  options.onWarnings?.(warnings);
  return { rows, meta, requestId, ...endsOf(rows), pageSize };
}

/** Whether another attempt might have succeeded. */
function isPassing(cause: unknown): boolean {
  if (!(cause instanceof Failure)) return false;
  return cause.code === 'network.unreachable' || RETRYABLE_STATUSES.includes(cause.status ?? 0);
}

/** The last id by the `Link` to the next page (RFC 8288), as our server sends it; possibly wrong, the records decide. */
function linkedLastId(link = ''): bigint | undefined {
  const query = /<[^<>?]*\?([^<>]*)>\s*;[^,<]*\brel="?next\b/i.exec(link)?.[1];
  return idOf({ id: new URLSearchParams(query).get('lastId') });
}

/** Bytes at the end of a page that are searched for its last id. */
const TAIL = 256;

/** The last id by `meta.pagination` (D17), at the end of a body; it may be wrong, the records decide. */
function announcedLastId(body: Uint8Array): bigint | undefined {
  const tail = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1', body.length - TAIL);
  return idOf({ id: /"lastId":"?(\d+)[",}]/.exec(tail)?.[1] });
}

function readRows({ data, requestId }: ApiResponse): readonly Row[] {
  if (Array.isArray(data) && data.every(isPlainObject)) return data;
  throw localFailure('response.malformed', 'The server sent a page whose data is not a list of records.', {
    requestId,
  });
}

/** Every row has an id. By cursor, where `after` is the last id before them, ids have to increase. */
function checkIds(
  rows: readonly Row[],
  after: bigint | undefined,
  operation: Operation,
  requestId: string | null,
): void {
  let before = after;
  for (const row of rows) {
    const id = idOf(row);
    if (id === undefined || (before !== undefined && id <= before)) {
      const what =
        id === undefined
          ? 'has a record without a usable id'
          : `has id ${id} after ${before}: ids must strictly increase`;
      throw localFailure('pages.order', `A page of ${operation.path} ${what}.`, { requestId });
    }
    if (before !== undefined) before = id;
  }
}

/** The first and the last id of the rows of a page. */
export function endsOf(rows: readonly Row[]): Pick<Page, 'firstId' | 'lastId'> {
  const text = (row: Row | undefined) => (row === undefined ? null : String(idOf(row)));
  return { firstId: text(rows[0]), lastId: text(rows.at(-1)) };
}

/** The id of a record exactly, from a number or text (D1); undefined for all but whole numbers above 0. */
export function idOf({ id }: Row): bigint | undefined {
  if (typeof id === 'number') return Number.isSafeInteger(id) && id > 0 ? BigInt(id) : undefined;
  return typeof id === 'string' && /^[1-9]\d{0,30}$/.test(id) ? BigInt(id) : undefined;
}

/** The id of a row; 0 where there is none. */
export function orderOf(row: Row | undefined): bigint {
  return idOf(row ?? {}) ?? 0n;
}

/** The first `count` rows of a page. */
export function truncatePage(page: Page, count: number): Page {
  if (page.rows.length <= count) return page;
  const rows = page.rows.slice(0, count);
  return { ...page, rows, ...endsOf(rows) };
}
