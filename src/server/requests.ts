import { DateTime } from 'luxon';
import type { Operation, Resource } from '../catalog/define.ts';
import { type Problem, Refusal, refusal } from '../catalog/failures.ts';
import { isPlainObject, type ReadContext, shown } from '../catalog/fields/kind.ts';
import { asId } from '../catalog/fields/numbers.ts';
import { readFieldSelection } from '../catalog/fieldselection.ts';
import { checkFilter, type FilterKeys, type Term } from '../catalog/filter/check.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type Paging } from '../catalog/paging.ts';
import { readFields } from '../catalog/record.ts';
import type { Organization } from './organizations.ts';
import type { OperationRequest } from './service.ts';
import { instantIn } from './zones.ts';

/** The checked query of a bulk read. */
export interface BulkQuery {
  readonly terms: readonly Term[];
  readonly fields: readonly string[] | undefined;
  readonly limit: number;
  readonly lastId: number;
  readonly byCursor: boolean;
  readonly page: number | undefined;
}

/** Reads the query of a bulk read. Throws a Refusal with all its problems together. */
export function readBulkQuery(request: OperationRequest, operation: Operation): BulkQuery {
  const { query } = request;
  const problems: Problem[] = [];
  const terms = gather(problems, () => readTerms(request, operation));
  const fields = gather(problems, () => readSelection(request, operation));
  const limit = readPageSize(query.pageSize, operation.paging, problems);
  const cursor = operation.paging?.style === 'cursor' ? query.lastId : undefined;
  const lastId = readNumber(cursor, 'lastId', problems, 'query.last_id', 0, Number.MAX_SAFE_INTEGER) ?? 0;
  const page = readNumber(query.page, 'page', problems, 'query.page', 1, Number.MAX_SAFE_INTEGER);
  if (problems.length > 0) throw new Refusal(problems);
  const byCursor = cursor !== undefined;
  return { terms: terms ?? [], fields, limit, lastId, byCursor, page: byCursor ? undefined : page };
}

function readPageSize(text: string | undefined, paging: Paging | undefined, problems: Problem[]): number {
  const max = paging?.max ?? MAX_PAGE_SIZE;
  const bound = paging?.capped ? Number.MAX_SAFE_INTEGER : max;
  const size = readNumber(text, 'pageSize', problems, 'query.page_size', 1, bound) ?? DEFAULT_PAGE_SIZE;
  return Math.min(size, max);
}

/** The terms of `filter`, with the automatic date filter where one applies (D13). */
export function readTerms(request: OperationRequest, operation: Operation): Term[] {
  const { service, organization, warnings } = request;
  const keys = operation.filters ?? {};
  const text = request.query.filter ?? '';
  if (operation.filterRequired && text.trim() === '') {
    const needed = Object.values(keys).filter((key) => key.required);
    const what = needed.find((key) => key.missing)?.missing ?? needed.map((key) => `${key.key} is required.`).join(' ');
    throw refusal('filter.missing', 'filter', `The filter parameter is required here. ${what}`.trim());
  }
  const terms = checkFilter(text, keys, { instantOf: instantIn(organization.timezone) });
  request.found.filterKeys = terms.map(({ key }) => key.key);
  if (service.requireLocation) requireLocation(terms, keys);
  const added = defaultDateTerm(operation, terms, organization, service.clock());
  if (added === undefined) return terms;
  const description = `No date filter was given, so ${added.key.key}>=${added.values[0]} was applied.`;
  warnings.push({ title: 'Default date filter', description, source: added.key.key });
  return [...terms, added];
}

/** The default date filter (D13): from one year ago, or the organization's creation if later; undefined where none applies. */
function defaultDateTerm(
  { defaultDate, filters }: Operation,
  terms: readonly Term[],
  { timezone: zone, createdDate }: Organization,
  now: number,
): Term | undefined {
  if (defaultDate === undefined || terms.some((term) => defaultDate.limiting.includes(term.key.key))) return undefined;
  const key = filters?.[defaultDate.key];
  if (key === undefined) return undefined;
  const yearAgo = DateTime.fromMillis(now, { zone }).minus({ years: 1 });
  const created = DateTime.fromISO(createdDate, { zone });
  const from = created > yearAgo ? created : yearAgo;
  const bound = key.value.name === 'date' ? from.toFormat('yyyy-MM-dd') : from.toUTC().toISO();
  return { key, operator: '>=', values: [bound ?? ''], all: false };
}

/** The announced breaking change, turned on by a setting: a location filter, ids or ALL, is required (D12). */
function requireLocation(terms: readonly Term[], keys: FilterKeys): void {
  const key = Object.values(keys).find((candidate) => candidate.willBeRequired);
  if (key === undefined || terms.some((term) => term.key === key)) return;
  throw refusal(
    'filter.missing',
    key.key,
    `The filter must have ${key.key}: ids such as ${key.key}->[5,6], or ${key.key}==ALL.`,
  );
}

/** The fields of `responseFields`; undefined for all of them. */
export function readSelection(request: OperationRequest, operation: Operation): string[] | undefined {
  const text = request.query.responseFields;
  if (operation.selectable === 'required' && (text ?? '').trim() === '') {
    throw refusal('query.missing', 'responseFields', 'The responseFields parameter is required here.');
  }
  return operation.selectable ? readFieldSelection(text, operation.fields ?? {}, 'responseFields') : undefined;
}

/** Runs a reader and collects its problems with those of others, so that all are reported at once. */
export function gather<T>(problems: Problem[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

function readNumber(
  text: string | undefined,
  source: string,
  problems: Problem[],
  code: Problem['code'],
  min: number,
  max: number,
): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const value = /^\d{1,16}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  const bounds = max === Number.MAX_SAFE_INTEGER ? `an integer from ${min} on` : `an integer from ${min} to ${max}`;
  problems.push({ code, source, description: `${source} must be ${bounds}.` });
  return undefined;
}

/** Collects the findings of a body. Date-times without a zone are in the one given, else the organization's (D7). */
export function readContext(
  request: OperationRequest,
  mode: 'create' | 'update',
  zone = request.organization.timezone,
): ReadContext & { problems: Problem[] } {
  const { service, warnings } = request;
  return { mode, problems: [], warnings, instantOf: instantIn(zone), maxText: service.maxText };
}

/** The canonical values of a JSON object body; problems are left in the context, for more to be added. */
export function readBody(request: OperationRequest, resource: Resource, context: ReadContext): Record<string, unknown> {
  if (!isPlainObject(request.body)) throw refusal('body.shape', 'body', 'The body must be one JSON object.');
  return readFields(resource.fields, request.body, context);
}

/** The path's id; anything but a positive integer names no record (D5). */
export function pathIdOf(request: OperationRequest, resource: Resource): number {
  const id = asId(request.pathId);
  if (id === undefined) throw notFound(resource.one, request.pathId ?? '');
  return id;
}

/** The refusal (404) of a record that does not exist. */
export function notFound(one: string, id: string | number): Refusal {
  return refusal('record.not_found', 'id', `There is no ${one} ${shown(String(id))} in this organization.`);
}
