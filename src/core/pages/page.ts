import { API_PREFIX } from '../../catalog/catalog.ts';
import type { Operation } from '../../catalog/define.ts';
import type { Warning } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { localFailure } from '../failure.ts';
import type { ApiAnswer, ApiClient, Query } from '../transport/client.ts';
import { bodyText, type Envelope, readEnvelope } from '../transport/envelope.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface Page {
  readonly rows: readonly Row[];
  readonly warnings: readonly Warning[];
  readonly meta: Readonly<Record<string, unknown>> | null;
  readonly requestId: string | null;
  /** Ids of the first and the last row, exact; null on an empty page. */
  readonly firstId: string | null;
  readonly lastId: string | null;
  /** The size it was asked for in. */
  readonly pageSize: number;
}

/** A turn of the event loop; `node:timers/promises` has the same, and loads the reading of terminals with it. */
const turnOfTheLoop = () => new Promise<void>((resolve) => setImmediate(resolve));

/** What every page of a walk asks for. */
export interface PageQuestion {
  /** Repeated with every page. */
  readonly filter?: string | undefined;
  /** Names for `responseFields`; all fields where absent. */
  readonly fields?: readonly string[] | undefined;
  /** Reads a page from its bytes; its records are what this makes of them, with their ids. Parsed as JSON where absent. */
  readonly read?: ((body: Uint8Array) => Envelope | undefined) | undefined;
  /** Told what the server's clock said with each answer, UTC milliseconds. */
  readonly onServerTime?: ((time: number) => void) | undefined;
  /** Told the warnings of each answer. */
  readonly onWarnings?: ((warnings: readonly Warning[]) => void) | undefined;
}

/** Records asked for at a time: one size for a run, made smaller when a page takes too long (contract §5). */
export class PageSize {
  current: number;

  constructor(size: number) {
    this.current = size;
  }

  /**
   * After a timeout of a page of `size`: about half of it, for the rest of the run. `before` is a number of rows that
   * the new size must divide, where pages are counted. Parallel requests of one size make it smaller only once.
   */
  shrink(size: number, before = 0): void {
    this.current = Math.min(this.current, dividing(Math.max(1, Math.floor(size / 2)), before));
  }
}

/** The largest page size up to `size` at which `before` rows are whole pages. */
export function dividing(size: number, before: number): number {
  let fitting = size;
  while (before % fitting !== 0) fitting--;
  return fitting;
}

/** Where a page begins: after an id, of which no more than `most` rows; or after so many rows, in whole pages. */
export type PagePlace = { readonly after: bigint; readonly most: number } | { readonly before: number };

/**
 * Asks for one page. Throws a Failure with exit code 8 for data that is no list of records, or whose ids do not
 * strictly increase from `last` on (`pages.order`), and whatever the request throws.
 */
export async function fetchPage(
  client: ApiClient,
  operation: Operation,
  asked: {
    readonly question: PageQuestion;
    readonly place: PagePlace;
    readonly size: PageSize;
    /** The last id before this page, which every id of it must exceed. */
    readonly last: bigint;
    /** Told what seems to be the last id of the page, before its records are read. */
    readonly onLastId?: (id: bigint) => void;
    readonly signal: AbortSignal;
  },
): Promise<Page> {
  const { question, place, size, last, onLastId, signal } = asked;
  const { read = (body: Uint8Array) => readEnvelope(bodyText(body)) } = question;
  let pageSize = size.current;
  const query = (): Query => {
    // A page number counts pages of one size: the last one must not be asked for smaller.
    pageSize = 'after' in place ? Math.min(size.current, place.most) : size.current;
    return {
      filter: question.filter || undefined,
      responseFields: question.fields?.join(','),
      pageSize,
      ...('after' in place ? { lastId: place.after.toString() } : { page: place.before / pageSize + 1 }),
    };
  };
  const answer = await client.request({
    method: 'GET',
    path: API_PREFIX + operation.path,
    query,
    onRetry: ({ status }) => {
      if (status === 408) size.shrink(pageSize, 'before' in place ? place.before : 0);
    },
    read: async (body) => {
      const id = onLastId && announcedLastId(body);
      if (id === undefined) return read(body);
      onLastId?.(id);
      // Reading keeps this process busy: what was asked for now goes out before.
      await turnOfTheLoop();
      return read(body);
    },
    ...(onLastId && {
      onHead: ({ link }) => {
        const id = linkedLastId(link);
        if (id !== undefined) onLastId(id);
      },
    }),
    signal,
  });
  const rows = readRows(answer);
  const ids = checkOrder(rows, last, operation, answer.requestId);
  const { warnings, meta, requestId, headers } = answer;
  const time = Date.parse(headers.date ?? '');
  if (!Number.isNaN(time)) question.onServerTime?.(time);
  question.onWarnings?.(warnings);
  return { rows, warnings, meta, requestId, ...ids, pageSize };
}

/** The last id by the `Link` to the next page (RFC 8288), as our server sends it. It may be another: the records tell. */
function linkedLastId(link = ''): bigint | undefined {
  const target = /<([^<>]*)>\s*;[^,<]*\brel="?next\b/i.exec(link)?.[1] ?? '';
  const id = new URLSearchParams(target.slice(target.indexOf('?') + 1)).get('lastId') ?? '';
  return /^[1-9]\d{0,30}$/.test(id) ? BigInt(id) : undefined;
}

/** Bytes at the end of a page that may tell its last id. */
const TAIL = 256;

/** The last id by `meta.pagination` (D17), as it stands at the end of a body. It may be another: the records tell. */
function announcedLastId(body: Uint8Array): bigint | undefined {
  const tail = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1', body.length - TAIL);
  const id = /"lastId":"?([1-9]\d{0,30})[",}]/.exec(tail)?.[1];
  return id === undefined ? undefined : BigInt(id);
}

function readRows(answer: ApiAnswer): readonly Row[] {
  if (Array.isArray(answer.data) && answer.data.every(isPlainObject)) return answer.data;
  throw localFailure('response.malformed', 'The server sent a page whose data is not a list of records.', {
    requestId: answer.requestId,
  });
}

function checkOrder(
  rows: readonly Row[],
  last: bigint,
  operation: Operation,
  requestId: string | null,
): Pick<Page, 'firstId' | 'lastId'> {
  let before = last;
  for (const row of rows) {
    const id = idOf(row);
    if (id === undefined || id <= before) {
      const what =
        id === undefined
          ? 'has a record without a usable id'
          : `has id ${id} after ${before}: ids must strictly increase`;
      throw localFailure('pages.order', `A page of ${operation.path} ${what}.`, { requestId });
    }
    before = id;
  }
  const [first] = rows;
  if (first === undefined) return { firstId: null, lastId: null };
  return { firstId: String(idOf(first)), lastId: String(before) };
}

/** The id of a record exactly, from a number or text (D1); undefined for anything that is not a whole number above 0. */
export function idOf({ id }: Row): bigint | undefined {
  if (typeof id === 'number') return Number.isSafeInteger(id) && id > 0 ? BigInt(id) : undefined;
  return typeof id === 'string' && /^[1-9]\d{0,30}$/.test(id) ? BigInt(id) : undefined;
}

/** The first `count` rows of a page. */
export function cutPage(page: Page, count: number): Page {
  if (page.rows.length <= count) return page;
  const rows = page.rows.slice(0, count);
  const last = rows.at(-1);
  const ids = last === undefined ? { firstId: null, lastId: null } : { lastId: String(idOf(last)) };
  return { ...page, rows, ...ids };
}
