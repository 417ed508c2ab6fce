import type { Operation } from '../../catalog/define.ts';
import { disclose, discloseRows } from '../disclosing.ts';
import { fairTurn } from '../fairscheduling.ts';
import { joinTexts, projectText } from '../rendering.ts';
import { type BulkQuery, notFound, pathIdOf, readBulkQuery, readSelection, readTerms } from '../requests.ts';
import { type Behaviour, renderRecord } from '../resources/behaviour.ts';
import type { Handler, OperationRequest, OperationResponse } from '../service.ts';
import { findRecord, listRecords, readPageText, readRecordText, type Slice } from '../store/records.ts';
import { cachedCount, type JsonPage, readNumberedPage } from './querycache.ts';

/** GET of a list: one page of stored records, ascending by id unless the catalog says otherwise (D14–D17). */
export function listHandler(behaviour: Behaviour, operation: Operation): Handler {
  const { resource } = behaviour;
  return async (request) => {
    const { service, organization } = request;
    const query = readBulkQuery(request, operation);
    const { limit, lastId: after, page, byCursor } = query;
    const offset = page === undefined ? 0 : (page - 1) * limit;
    const slice: Slice = { lastId: after, offset, limit, ...orderOf(operation, query) };
    const records = { reach: organization, resource, terms: query.terms };
    await fairTurn(organization.org);
    const { data, lastId, found } = await readNumberedPage(service.store, records, slice, (from) =>
      readPage(behaviour, request, query, from),
    );
    const total = showsTotal(operation, query) ? await cachedCount(service.store, records) : 0;
    if (page !== undefined && operation.paging?.pageIsDeprecated) {
      const description = 'The page parameter is deprecated here; use lastId.';
      request.warnings.push({ title: 'Deprecated parameter', description, source: 'page' });
    }
    const pagination = operation.paging?.meta?.({ limit, offset, page, byCursor, lastId, total });
    const isFull = found === limit && lastId !== undefined;
    return {
      data,
      ...(pagination && { meta: { pagination } }),
      ...(byCursor && isFull && { headers: nextLink(lastId, request.query) }),
    };
  };
}

/** Maximum characters of a `Link` header: some clients accept no more than 8 KiB of headers. */
const MAX_LINK = 2048;

/** A relative `Link` to the next page (RFC 8288): a client can request it while this one is on its way. */
function nextLink(lastId: number, query: OperationRequest['query']): Readonly<Record<string, string>> {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const next = new URLSearchParams([...given.filter(([name]) => name !== 'lastId'), ['lastId', String(lastId)]]);
  const link = `<?${next}>; rel="next"`;
  return link.length > MAX_LINK ? {} : { link };
}

/** The records of a page as JSON text; complete ones in id order are joined by the store. */
async function readPage(
  behaviour: Behaviour,
  request: OperationRequest,
  { terms, fields }: BulkQuery,
  slice: Slice,
): Promise<JsonPage> {
  const { organization } = request;
  const { read } = request.service.store;
  if (fields === undefined && behaviour.render === undefined && slice.order === undefined) {
    const page = await readPageText(read, organization, behaviour.resource, terms, slice);
    const ids = idsOf(page.ids);
    disclose(request, ids, page.patients === undefined ? ids : idsOf(page.patients));
    return { data: arrayOf(page.data ?? ''), lastId: page.last_id ?? undefined, found: page.found };
  }
  const rows = await listRecords(read, organization, behaviour.resource, terms, slice);
  discloseRows(request, rows);
  const texts = rows.map((row) => projectText(renderRecord(behaviour, row, request), fields));
  return { data: joinTexts(texts), lastId: rows.at(-1)?.id, found: rows.length };
}

/** Ids joined by commas. */
function idsOf(joined: string | null): number[] {
  return joined === null ? [] : joined.split(',').map(Number);
}

/** JSON of an array from that of its items, which stays in bytes when it is. */
function arrayOf(items: string | Buffer): OperationResponse['data'] {
  return typeof items === 'string' ? `[${items}]` : [OPENED, items, CLOSED];
}

const [OPENED, CLOSED] = [Buffer.from('['), Buffer.from(']')];

function showsTotal({ paging }: Operation, { page }: BulkQuery): boolean {
  return paging?.counts === 'always' || (paging?.counts === 'without a page' && page === undefined);
}

/** Newest first only without a cursor, by the first of the operation's date keys that is filtered by (D16). */
function orderOf(operation: Operation, { terms, byCursor }: BulkQuery): Pick<Slice, 'order'> {
  if (operation.order !== undefined) return { order: operation.order };
  const newestBy = operation.newestFirst?.find((key) => terms.some((term) => term.key.key === key));
  return newestBy === undefined || byCursor ? {} : { order: { newestBy } };
}

/** GET of a count, under every name that the operation has for it (D18). */
export function countHandler(behaviour: Behaviour, operation: Operation): Handler {
  return async (request) => {
    const { organization, service } = request;
    const terms = readTerms(request, operation);
    const total = await cachedCount(service.store, { reach: organization, resource: behaviour.resource, terms });
    return { data: JSON.stringify(Object.fromEntries((operation.countNames ?? []).map((name) => [name, total]))) };
  };
}

/** GET of one record. */
export function getHandler(behaviour: Behaviour, operation: Operation): Handler {
  const { resource } = behaviour;
  return async (request) => {
    const selected = readSelection(request, operation);
    const id = pathIdOf(request, resource);
    const { organization } = request;
    const read = request.service.store.lookupsFor(organization.org);
    if (selected === undefined && behaviour.render === undefined) {
      const found = await readRecordText(read, organization, resource, id);
      if (found === undefined) throw notFound(resource.one, id);
      const { json } = found;
      discloseRows(request, [{ id, ...found }]);
      return { data: typeof json === 'string' ? json : [json] };
    }
    const row = await findRecord(read, organization, resource, id);
    if (row === undefined) throw notFound(resource.one, id);
    discloseRows(request, [row]);
    return { data: projectText(renderRecord(behaviour, row, request), selected) };
  };
}
