import { isPlainObject } from '../../catalog/fields/kind.ts';
import { MAX_PAGE_SIZE } from '../../catalog/paging.ts';
import { localFailure, usageFailure } from '../../core/failure.ts';
import type { Row } from '../../core/pages/page.ts';
import { walkPages } from '../../core/pages/walk.ts';
import type { ApiClient, ApiResponse } from '../../core/transport/client.ts';
import { knownOperation, type RawRequest, targetOf } from './request.ts';

type Pages = AsyncIterable<{ readonly rows: readonly Row[] }>;

/** Parameters that choose a page, which only the walk itself may do. */
const PAGE_PARAMETERS = ['lastId', 'page'];

/**
 * Every record of a path, page by page: as in the catalog where it has the path, else by `lastId`, or `page` where the
 * server ignores `lastId`. Throws a Failure: exit 2 for a query with a page, 8 when the pages do not advance.
 */
export function rawPages(client: ApiClient, request: RawRequest, signal: AbortSignal): Pages {
  const { path, query } = request;
  const own = query.find(([name]) => PAGE_PARAMETERS.includes(name));
  if (own !== undefined) {
    throw usageFailure(`--paginate chooses ${own[0]} itself; leave it out.`, { source: own[0] });
  }
  const operation = knownOperation('GET', path)?.operation;
  const paged = operation?.paging !== undefined && operation.shape !== 'async';
  if (operation !== undefined && !paged) return unpaged(client, request, signal);
  const { filter, responseFields, pageSize, ...others } = Object.fromEntries(query);
  const names = query.map(([name]) => name);
  if (operation === undefined || Object.keys(others).length > 0 || new Set(names).size < names.length) {
    return walkUnknown(client, request, operation?.paging?.style, signal);
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

/** A list that comes complete in one response. */
async function* unpaged(client: ApiClient, { path, query }: RawRequest, signal: AbortSignal): Pages {
  yield { rows: rowsOf(await client.request({ method: 'GET', path: targetOf(path, query), signal })) };
}

/** A walk over what the catalog does not describe. */
async function* walkUnknown(
  client: ApiClient,
  { path, query }: RawRequest,
  style: 'cursor' | 'pages' | undefined,
  signal: AbortSignal,
): Pages {
  let byNumber = style === 'pages';
  let last: Row | undefined;
  let before = '';
  const size = query.some(([name]) => name === 'pageSize') ? [] : [['pageSize', String(MAX_PAGE_SIZE)] as const];
  const fetchPage = (page: number) => {
    const position = byNumber ? (['page', String(page)] as const) : (['lastId', String(last?.id ?? 0)] as const);
    return client.request({ method: 'GET', path: targetOf(path, [...query, ...size, position]), signal });
  };
  const stuck = (page: number, { requestId }: ApiResponse) =>
    localFailure('pages.order', `Page ${page} of ${path} does not follow the one before it.`, { requestId });
  for (let page = 1; ; page++) {
    let response = await fetchPage(page);
    if (!byNumber && !isAfter(last, rowsOf(response))) {
      if (style === 'cursor') throw stuck(page, response);
      byNumber = true;
      // The first page is the first either way; a later one was not the requested one.
      if (page > 1) response = await fetchPage(page);
    }
    const rows = rowsOf(response);
    if (rows.length === 0) return;
    const text = JSON.stringify(rows);
    if (text === before) throw stuck(page, response);
    before = text;
    last = rows.at(-1);
    yield { rows };
  }
}

/** Whether all ids follow the last one in ascending order, as in a walk by `lastId`. */
function isAfter(last: Row | undefined, rows: readonly Row[]): boolean {
  let before = idOf(last) ?? 0n;
  for (const row of rows) {
    const id = idOf(row);
    if (id === undefined || id <= before) return false;
    before = id;
  }
  return true;
}

function idOf(row: Row | undefined): bigint | undefined {
  const id = row?.id;
  return (typeof id === 'number' || typeof id === 'string') && /^\d{1,31}$/.test(String(id)) ? BigInt(id) : undefined;
}

function rowsOf({ data, requestId }: ApiResponse): readonly Row[] {
  if (Array.isArray(data) && data.every(isPlainObject)) return data;
  throw localFailure('response.malformed', 'The response is not a list of records.', {
    requestId,
    hint: 'Leave out --paginate: only lists have pages.',
  });
}
