import type { Operation, Resource } from '../../catalog/define.ts';
import { behaviourOf } from '../resources/behaviours.ts';
import { type Json, objectOf, recordName, ref, typeNameWith } from './names.ts';

/** The form of `data` in a response: a record, an array of them, counts, or the id of what was deleted. */
export function dataForm(resource: Resource, operation: Operation): 'record' | 'records' | 'counts' | 'deleted' {
  const { shape, fields } = operation;
  if (shape === 'count') return 'counts';
  if (shape === 'delete') return behaviourOf(resource).answersDeleted ? 'record' : 'deleted';
  // A report that sums up has its page as one object, whose records are inside.
  if (shape === 'report') return fields === resource.fields ? 'records' : 'record';
  return shape === 'get' || shape === 'create' || shape === 'update' ? 'record' : 'records';
}

/** The name of an operation's envelope; bulk reads have those of the specification. */
export function envelopeName(resource: Resource, operation: Operation): string {
  const name = recordName(resource, operation);
  switch (dataForm(resource, operation)) {
    case 'counts':
      return typeNameWith(resource.type, 'CountResponseWrapper');
    case 'deleted':
      return 'DeletedResponseWrapper';
    case 'record':
      return typeNameWith(name, 'ResponseWrapper');
    case 'records':
      return typeNameWith(name, paginationNames(operation) ? 'BulkResponseWrapper' : 'ListResponseWrapper');
  }
}

/** The envelope of a successful response (D6). */
export function envelopeSchema(resource: Resource, operation: Operation): Json {
  const pagination = paginationNames(operation);
  const always = operation.paging !== undefined && pagination !== undefined;
  return {
    type: 'object',
    properties: {
      data: dataSchema(resource, operation),
      warnings: { type: 'array', items: ref('schemas', 'Warning') },
      errors: { type: 'array', items: ref('schemas', 'ErrorItem'), maxItems: 0 },
      ...(pagination && { meta: metaSchema(pagination) }),
    },
    required: ['data', 'warnings', 'errors', ...(always ? ['meta'] : [])],
  };
}

function dataSchema(resource: Resource, operation: Operation): Json {
  const record = ref('schemas', recordName(resource, operation));
  switch (dataForm(resource, operation)) {
    case 'counts':
      return objectOf(schemasFor(operation.countNames ?? [], { type: 'integer', minimum: 0 }));
    case 'deleted':
      return ref('schemas', 'Link');
    case 'records':
      return { type: 'array', items: record };
    case 'record':
      return record;
  }
}

function metaSchema({ always, sometimes }: PaginationNames): Json {
  const properties = schemasFor([...always, ...sometimes], { type: 'integer', format: 'int64' });
  return objectOf({ pagination: { type: 'object', properties, required: always } });
}

function schemasFor(names: readonly string[], schema: Json): Json {
  return Object.fromEntries(names.map((name) => [name, schema]));
}

interface PaginationNames {
  readonly always: readonly string[];
  readonly sometimes: readonly string[];
}

/** What `meta.pagination` holds: names that are always there, and names that depend on the request (D17). */
function paginationNames({ id, paging }: Operation): PaginationNames | undefined {
  // Only the first page of the aging report has pagination, and no `paging` of the catalog (D35).
  if (id === 'agingbalances.report') return { always: ['limit', 'total'], sometimes: [] };
  const { meta } = paging ?? {};
  if (meta === undefined) return undefined;
  const seen = [undefined, 1].flatMap((page) =>
    [undefined, 1].flatMap((lastId) =>
      [true, false].map((byCursor) => Object.keys(meta({ limit: 1, offset: 0, total: 1, page, lastId, byCursor }))),
    ),
  );
  const names = [...new Set(seen.flat())];
  const always = names.filter((name) => seen.every((keys) => keys.includes(name)));
  return { always, sometimes: names.filter((name) => !always.includes(name)) };
}
