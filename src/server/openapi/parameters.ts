import type { Operation } from '../../catalog/define.ts';
import { selectableNames } from '../../catalog/fieldselection.ts';
import type { FilterKey } from '../../catalog/filter/check.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../catalog/paging.ts';
import { type Json, ref } from './json.ts';
import { filterExample } from './requests.ts';

/** Parameters that many operations share, by component name. */
export const SHARED_PARAMETERS: Readonly<Record<string, Json>> = {
  OrganizationId: {
    name: 'Organization-ID',
    in: 'header',
    required: true,
    description: 'The organization the request is for; the token must be for it too.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
    example: '5f0c1e2d3a4b5c6d7e8f9a0b',
  },
  RequestId: {
    name: 'X-Request-ID',
    in: 'header',
    description:
      'A name for this request, 1 to 200 visible ASCII characters; the answer carries it. Made up when not sent.',
    schema: { type: 'string', pattern: '^[!-~]{1,200}$' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes a POST safe to repeat: for 24 hours the same key with the same body gives the first answer again and does nothing.',
    schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
  },
  LastId: {
    name: 'lastId',
    in: 'query',
    description:
      'Answer the records after this id, ids ascending. Start with 0, go on with the id of the last record, and stop at an empty page. Wins over page.',
    schema: { type: 'integer', format: 'int64', minimum: 0 },
  },
};

/** Every parameter of an operation: path, query and headers. */
export function parametersOf(one: string, operation: Operation): Json[] {
  return [
    ...pathParameters(one, operation),
    ...(operation.filters ? [filterParameter(operation)] : []),
    ...(operation.selectable ? [fieldsParameter(operation)] : []),
    ...pagingParameters(operation),
    ...Object.entries(operation.parameters ?? {}).map(([name, { values, required, about }]) => ({
      name,
      in: 'query',
      ...(required && { required }),
      description: about,
      schema: { type: 'string', enum: values },
    })),
    ref('parameters', 'OrganizationId'),
    ...(operation.method === 'POST' ? [ref('parameters', 'IdempotencyKey')] : []),
    ref('parameters', 'RequestId'),
  ];
}

/** Names of the parameters in a path. */
export function pathNames(operation: Operation): string[] {
  return [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

function pathParameters(one: string, operation: Operation): Json[] {
  return pathNames(operation).map((name) => ({
    name,
    in: 'path',
    required: true,
    description: `Id of the ${one}.`,
    schema: { type: 'integer', format: 'int64', minimum: 1 },
  }));
}

function filterParameter(operation: Operation): Json {
  const keys = Object.values(operation.filters ?? {});
  const required = operation.filterRequired === true;
  return {
    name: 'filter',
    in: 'query',
    ...(required && { required }),
    description: [
      'Terms of the form key, operator, value, joined by commas; all of them must hold.',
      '',
      '| Key | Operators | Value | Selects by |',
      '| --- | --- | --- | --- |',
      ...keys.map((key) => `| ${key.key} | ${key.operators.join(' ')} | ${key.value.expected} | ${keyNote(key)} |`),
    ].join('\n'),
    schema: { type: 'string' },
    example: filterExample(operation),
  };
}

/** What a key selects by, and whether it has to be there. */
export function keyNote(key: FilterKey): string {
  if (key.required) return `${key.about} (required)`;
  return key.willBeRequired ? `${key.about} (will be required; the server can be set to require it now)` : key.about;
}

/** A comma-delimited list in the query: `style: form` without `explode`. */
function fieldsParameter(operation: Operation): Json {
  const required = operation.selectable === 'required';
  return {
    name: 'responseFields',
    in: 'query',
    ...(required && { required }),
    description: 'Fields to answer, or ALL. id and type are always answered.',
    style: 'form',
    explode: false,
    schema: { type: 'array', items: { type: 'string', enum: ['ALL', ...selectableNames(operation.fields ?? {})] } },
  };
}

function pagingParameters({ paging }: Operation): Json[] {
  if (paging === undefined) return [];
  const max = paging.max ?? MAX_PAGE_SIZE;
  const size = {
    name: 'pageSize',
    in: 'query',
    description: paging.capped
      ? `Records in the answer, ${max} at most; a larger number counts as ${max}.`
      : `Records in a page, 1 to ${max}.`,
    schema: {
      type: 'integer',
      minimum: 1,
      ...(!paging.capped && { maximum: max }),
      default: Math.min(DEFAULT_PAGE_SIZE, max),
    },
  };
  const page = {
    name: 'page',
    in: 'query',
    ...(paging.pageIsDeprecated && { deprecated: true }),
    description:
      paging.style === 'pages' ? 'Number of the page, from 1.' : 'Number of the page, from 1; prefer lastId.',
    schema: { type: 'integer', minimum: 1 },
  };
  return [size, page, ...(paging.style === 'cursor' ? [ref('parameters', 'LastId')] : [])];
}
