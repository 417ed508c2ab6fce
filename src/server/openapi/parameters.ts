import type { Operation } from '../../catalog/define.ts';
import type { Fields } from '../../catalog/fields/kind.ts';
import { selectableNames } from '../../catalog/fieldselection.ts';
import type { FilterKey } from '../../catalog/filter/check.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../catalog/paging.ts';
import { filterExample } from './examples.ts';
import { type Json, ref } from './names.ts';

/** A parameter as the document has it. */
export interface Parameter extends Json {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: Json;
}

/** Describes a parameter; those of a path are always required. */
export function parameter(
  name: string,
  where: Parameter['in'],
  description: string,
  rest: Pick<Parameter, 'schema'> & Json,
  required = where === 'path',
): Parameter {
  return { name, in: where, ...(required && { required }), description, ...rest };
}

/** Schema of an id in a path. */
export const ID_SCHEMA: Json = { type: 'integer', format: 'int64', minimum: 1 };

/** Schema of a position: 0 for the beginning, or an id. */
export const POSITION_SCHEMA: Json = { type: 'integer', format: 'int64', minimum: 0 };

/** Parameters that many operations share, by component name. */
export const SHARED_PARAMETERS = {
  OrganizationId: parameter(
    'Organization-ID',
    'header',
    'The organization the request is for; the token must be valid for it.',
    { schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' }, example: '5f0c1e2d3a4b5c6d7e8f9a0b' },
    true,
  ),
  RequestId: parameter(
    'X-Request-ID',
    'header',
    'An id for this request, 1 to 200 visible ASCII characters, returned with the response. Generated when not sent.',
    { schema: { type: 'string', pattern: '^[!-~]{1,200}$' } },
  ),
  IdempotencyKey: parameter(
    'Idempotency-Key',
    'header',
    'Makes a POST safe to repeat: for 24 hours the same key with the same body returns the first response again and changes nothing.',
    { schema: { type: 'string', pattern: '^[!-~]{1,255}$' } },
  ),
  LastId: parameter(
    'lastId',
    'query',
    'Return the records after this id, ids ascending. Start with 0, continue with the id of the last record, and stop at an empty page. Takes precedence over page.',
    { schema: POSITION_SCHEMA },
  ),
};

/** Every parameter of an operation: path, query and headers. */
export function parametersOf(one: string, operation: Operation): Json[] {
  return [
    ...ownParameters(one, operation),
    ref('parameters', 'OrganizationId'),
    ...(operation.method === 'POST' ? [ref('parameters', 'IdempotencyKey')] : []),
    ref('parameters', 'RequestId'),
  ].map((each) => (each === SHARED_PARAMETERS.LastId ? ref('parameters', 'LastId') : each));
}

/** The parameters of an operation in its path and query. */
export function ownParameters(one: string, operation: Operation): Parameter[] {
  const { path, filters, selectable, fields = {}, parameters = {} } = operation;
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
      parameter(name, 'path', `Id of the ${one}.`, { schema: ID_SCHEMA }),
    ),
    ...(filters ? [filterParameter(operation)] : []),
    ...(selectable ? [fieldsParameter(fields, selectable === 'required')] : []),
    ...pagingParameters(operation),
    ...Object.entries(parameters).map(([name, { values, required, about }]) =>
      parameter(name, 'query', about, { schema: { type: 'string', enum: values } }, required),
    ),
  ];
}

function filterParameter(operation: Operation): Parameter {
  const keys = Object.values(operation.filters ?? {});
  const description = [
    'Terms of the form key, operator, value, separated by commas; a record must match all of them.',
    '',
    '| Key | Operators | Value | Selects by |',
    '| --- | --- | --- | --- |',
    ...keys.map((key) => `| ${key.key} | ${key.operators.join(' ')} | ${key.value.expected} | ${keyNote(key)} |`),
  ].join('\n');
  const rest = { schema: { type: 'string' }, example: filterExample(operation) };
  return parameter('filter', 'query', description, rest, operation.filterRequired);
}

/** What a key selects by, and whether it has to be there. */
export function keyNote(key: FilterKey): string {
  if (key.required) return `${key.about} (required)`;
  return key.willBeRequired ? `${key.about} (will be required; the server can be set to require it now)` : key.about;
}

/** A comma-delimited list in the query: `style: form` without `explode`. */
function fieldsParameter(fields: Fields, required: boolean): Parameter {
  const schema = { type: 'array', items: { type: 'string', enum: ['ALL', ...selectableNames(fields)] } };
  const description = 'Fields to return, or ALL. id and type are always returned.';
  return parameter('responseFields', 'query', description, { style: 'form', explode: false, schema }, required);
}

function pagingParameters({ paging }: Operation): Parameter[] {
  if (paging === undefined) return [];
  const max = paging.max ?? MAX_PAGE_SIZE;
  const sizeNote = paging.capped
    ? `Records in the response, at most ${max}; a larger number counts as ${max}.`
    : `Records per page, 1 to ${max}.`;
  const limit = paging.capped ? {} : { maximum: max };
  const schema = { type: 'integer', minimum: 1, ...limit, default: Math.min(DEFAULT_PAGE_SIZE, max) };
  const page: Parameter = {
    name: 'page',
    in: 'query',
    ...(paging.pageIsDeprecated && { deprecated: true }),
    description: paging.style === 'pages' ? 'Page number, from 1.' : 'Page number, from 1; prefer lastId.',
    schema: { type: 'integer', minimum: 1 },
  };
  const lastId = paging.style === 'cursor' ? [SHARED_PARAMETERS.LastId] : [];
  return [parameter('pageSize', 'query', sizeNote, { schema }), page, ...lastId];
}
