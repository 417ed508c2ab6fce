import type { Operation } from '../../catalog/define.ts';
import { ownTurn } from '../fairscheduling.ts';
import { joinTexts, projectText } from '../rendering.ts';
import { type BulkQuery, notFound, pathIdOf, readBulkQuery, readSelection, readTerms } from '../requests.ts';
import { type Behaviour, renderRecord } from '../resources/behaviour.ts';
import type { Answer, Handler, OperationRequest } from '../service.ts';
import { findRecord, listRecords, readPageText, readRecordText, type Slice } from '../store/records.ts';
import { countOnce, type ReadPage, readNumberedPage } from './querycache.ts';

/** GET of a list: one page of stored records, ascending by id unless the catalog says otherwise (D14–D17). */
export function listHandler(behaviour: Behaviour, operation: Operation): Handler {
  const { resource } = behaviour;
  return async (request) => {
    const { service, organization } = request;
    const asked = readBulkQuery(request, operation);
    const offset = asked.page === undefined ? 0 : (asked.page - 1) * asked.limit;
    const slice: Slice = { lastId: asked.lastId, offset, limit: asked.limit, ...orderOf(operation, asked) };
    const question = { org: organization.org, resource, terms: asked.terms };
    await ownTurn();
    const { data, lastId, found } = await readNumberedPage(service.store, question, slice, (from) =>
      readPage(behaviour, request, asked, from),
    );
    request.found.count = found;
    const total = showsTotal(operation, asked) ? await countOnce(service.store, question) : 0;
    if (asked.page !== undefined && operation.paging?.pageIsDeprecated) {
      const description = 'The page parameter is deprecated here; use lastId.';
      request.warnings.push({ title: 'Deprecated parameter', description, source: 'page' });
    }
    const { limit, page, byCursor } = asked;
    const pagination = operation.paging?.meta?.({ limit, offset, page, byCursor, lastId, total });
    const isFull = found === limit && lastId !== undefined;
    return {
      data,
      ...(pagination && { meta: { pagination } }),
      ...(byCursor && isFull && { headers: linkAfter(lastId, request.query) }),
    };
  };
}

/** Characters of the longest query that is repeated in a header: some clients take no more than 8 KiB of headers. */
const LONGEST_LINK = 2048;

/**
 * A `Link` to the next page (RFC 8288), so that a client can ask for it while the records of this one are on their way.
 * Relative to the request, with everything that was asked: a link without the filter would lead to other records.
 */
function linkAfter(lastId: number, query: OperationRequest['query']): Readonly<Record<string, string>> {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const next = new URLSearchParams([...given.filter(([name]) => name !== 'lastId'), ['lastId', String(lastId)]]);
  const link = `<?${next}>; rel="next"`;
  return link.length > LONGEST_LINK ? {} : { link };
}

/** The records of a page as JSON text; whole ones in id order are joined by the store. */
async function readPage(
  behaviour: Behaviour,
  request: OperationRequest,
  asked: BulkQuery,
  slice: Slice,
): Promise<ReadPage> {
  const { read } = request.service.store;
  const { org } = request.organization;
  if (asked.fields === undefined && behaviour.render === undefined && slice.order === undefined) {
    const page = await readPageText(read, org, behaviour.resource, asked.terms, slice);
    return { data: arrayOf(page.data ?? ''), lastId: page.last_id ?? undefined, found: page.found };
  }
  const rows = await listRecords(read, org, behaviour.resource, asked.terms, slice);
  const texts = rows.map((row) => projectText(renderRecord(behaviour, row, request), asked.fields));
  return { data: joinTexts(texts), lastId: rows.at(-1)?.id, found: rows.length };
}

/** JSON of an array from that of its inside, which stays in bytes when it is. */
function arrayOf(inside: string | Buffer): Answer['data'] {
  return typeof inside === 'string' ? `[${inside}]` : [OPENED, inside, CLOSED];
}

const [OPENED, CLOSED] = [Buffer.from('['), Buffer.from(']')];

function showsTotal({ paging }: Operation, { page }: BulkQuery): boolean {
  return paging?.counts === 'always' || (paging?.counts === 'without a page' && page === undefined);
}

/** Newest first only without a cursor, by the first of the operation's date keys that is filtered by (D16). */
function orderOf(operation: Operation, asked: BulkQuery): Pick<Slice, 'order'> {
  if (operation.order !== undefined) return { order: operation.order };
  const newestBy = operation.newestFirst?.find((key) => asked.terms.some((term) => term.key.key === key));
  return newestBy === undefined || asked.byCursor ? {} : { order: { newestBy } };
}

/** GET of a count, under every name the operation answers with (D18). */
export function countHandler(behaviour: Behaviour, operation: Operation): Handler {
  return async (request) => {
    const { organization, service } = request;
    const terms = readTerms(request, operation);
    const total = await countOnce(service.store, { org: organization.org, resource: behaviour.resource, terms });
    return { data: JSON.stringify(Object.fromEntries((operation.countNames ?? []).map((name) => [name, total]))) };
  };
}

/** GET of one record. */
export function getHandler(behaviour: Behaviour, operation: Operation): Handler {
  const { resource } = behaviour;
  return async (request) => {
    const selected = readSelection(request, operation);
    const id = pathIdOf(request, resource);
    const { read } = request.service.store;
    const { org } = request.organization;
    if (selected === undefined && behaviour.render === undefined) {
      const json = await readRecordText(read, org, resource, id);
      if (json === undefined) throw notFound(resource.one, id);
      return { data: typeof json === 'string' ? json : [json] };
    }
    const row = await findRecord(read, org, resource, id);
    if (row === undefined) throw notFound(resource.one, id);
    return { data: projectText(renderRecord(behaviour, row, request), selected) };
  };
}
