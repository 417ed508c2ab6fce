import { isPlainObject } from '../../catalog/fields/kind.ts';
import { MAX_PAGE_SIZE } from '../../catalog/paging.ts';
import { localFailure, usageFailure } from '../../core/failure.ts';
import type { Row } from '../../core/pages/page.ts';
import { walkPages } from '../../core/pages/walk.ts';
import type { ApiClient, ApiResponse } from '../../core/transport/client.ts';
import { knownOperation, type RawRequest, targetOf } from './request.ts';

type Pages = AsyncIterable<{ readonly rows: readonly Row[] }>;

/** Parameters that choose a page, which is the walk's own business. */
const OWN = ['lastId', 'page'];

/**
 * Every record behind a path, page by page: as the catalog says where it knows the path, else by `lastId`, or by
 * `page` where the server takes no notice of `lastId`. Throws a Failure (exit 2) for a query that names a page, and
 * one with exit code 8 where the server's pages do not move on.
 */
export function rawPages(client: ApiClient, request: RawRequest, signal: AbortSignal): Pages {
  const { path, query } = request;
  const own = query.find(([name]) => OWN.includes(name));
  if (own !== undefined) {
    throw usageFailure(`--paginate chooses ${own[0]} itself; leave it out.`, { source: own[0] });
  }
  const operation = knownOperation('GET', path)?.operation;
  const paged = operation?.paging !== undefined && operation.shape !== 'async';
  if (operation !== undefined && !paged) return onePage(client, request, signal);
  const { filter, responseFields, pageSize, ...others } = Object.fromEntries(query);
  const names = query.map(([name]) => name);
  if (operation === undefined || Object.keys(others).length > 0 || new Set(names).size < names.length) {
    return new UnknownWalk(client, request, operation?.paging?.style, signal).pages();
  }
  const fields = responseFields?.split(',');
  return walkPages(client, operation, { filter, fields, pageSize: readPageSize(pageSize), signal });
}

function readPageSize(text: string | undefined): number {
  if (text === undefined) return MAX_PAGE_SIZE;
  const size = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (size >= 1 && size <= MAX_PAGE_SIZE) return size;
  throw usageFailure(`pageSize must be a whole number, 1 to ${MAX_PAGE_SIZE}.`, { source: 'pageSize' });
}

async function* onePage(client: ApiClient, { path, query }: RawRequest, signal: AbortSignal): Pages {
  yield { rows: rowsOf(await client.request({ method: 'GET', path: targetOf(path, query), signal })) };
}

/** A walk over what the catalog does not describe. */
class UnknownWalk {
  private readonly client: ApiClient;
  private readonly request: RawRequest;
  private readonly signal: AbortSignal;
  private readonly style: 'cursor' | 'pages' | undefined;
  private byNumber: boolean;
  private last: Row | undefined;
  private before = '';

  constructor(client: ApiClient, request: RawRequest, style: 'cursor' | 'pages' | undefined, signal: AbortSignal) {
    this.client = client;
    this.request = request;
    this.style = style;
    this.signal = signal;
    this.byNumber = style === 'pages';
  }

  async *pages(): AsyncGenerator<{ readonly rows: readonly Row[] }> {
    for (let page = 1; ; page++) {
      let answer = await this.fetch(page);
      if (!this.byNumber && !this.movesOn(rowsOf(answer))) {
        if (this.style === 'cursor') throw this.stuck(page, answer);
        this.byNumber = true;
        // The first page is the first either way; a later one was not the one that was asked for.
        if (page > 1) answer = await this.fetch(page);
      }
      const rows = rowsOf(answer);
      if (rows.length === 0) return;
      const text = JSON.stringify(rows);
      if (text === this.before) throw this.stuck(page, answer);
      this.before = text;
      this.last = rows.at(-1);
      yield { rows };
    }
  }

  private fetch(page: number): Promise<ApiResponse> {
    const { path, query } = this.request;
    const size = query.some(([name]) => name === 'pageSize') ? [] : [['pageSize', String(MAX_PAGE_SIZE)] as const];
    const place = this.byNumber ? (['page', String(page)] as const) : (['lastId', String(this.last?.id ?? 0)] as const);
    return this.client.request({
      method: 'GET',
      path: targetOf(path, [...query, ...size, place]),
      signal: this.signal,
    });
  }

  /** Whether all ids follow the last one, in ascending order, as a walk by `lastId` has them. */
  private movesOn(rows: readonly Row[]): boolean {
    let last = idOf(this.last) ?? 0n;
    for (const row of rows) {
      const id = idOf(row);
      if (id === undefined || id <= last) return false;
      last = id;
    }
    return true;
  }

  private stuck(page: number, { requestId }: ApiResponse) {
    const message = `Page ${page} of ${this.request.path} does not follow the one before it.`;
    return localFailure('pages.order', message, { requestId });
  }
}

function idOf(row: Row | undefined): bigint | undefined {
  const id = row?.id;
  return (typeof id === 'number' || typeof id === 'string') && /^\d{1,31}$/.test(String(id)) ? BigInt(id) : undefined;
}

function rowsOf({ data, requestId }: ApiResponse): readonly Row[] {
  if (Array.isArray(data) && data.every(isPlainObject)) return data;
  throw localFailure('response.malformed', 'The answer holds no list of records.', {
    requestId,
    hint: 'Leave out --paginate: only lists have pages.',
  });
}
