import type { Operation, Resource } from '../../catalog/define.ts';
import { type FailureCode, type Problem, wireError } from '../../catalog/failures.ts';
import { emittedFields, type Fields } from '../../catalog/record.ts';
import { behaviourOf } from '../resources/behaviours.ts';
import type { Json } from './json.ts';
import { recordName } from './names.ts';
import { exampleBody } from './requests.ts';
import { namedSample, sampleId, sampleOf } from './samples.ts';

/** The form of `data` in an answer: a record, an array of them, counts, or the id of what was deleted. */
export type DataForm = 'record' | 'records' | 'counts' | 'deleted';

export function dataForm(resource: Resource, operation: Operation): DataForm {
  switch (operation.shape) {
    case 'count':
      return 'counts';
    case 'get':
    case 'create':
    case 'update':
      return 'record';
    case 'delete':
      return behaviourOf(resource).answersDeleted ? 'record' : 'deleted';
    case 'report':
      // A report that sums up answers its page as one object, whose records are inside.
      return operation.fields === resource.fields ? 'records' : 'record';
    default:
      return 'records';
  }
}

/** The fields of the records that an operation answers, and their name. */
export function answered(resource: Resource, operation: Operation): { readonly name: string; readonly fields: Fields } {
  const name = recordName(resource, operation);
  return { name: name ?? resource.type, fields: operation.fields ?? resource.fields };
}

/** The body of a successful answer, as an example. */
export function exampleAnswer(resource: Resource, operation: Operation): Json {
  const pagination = examplePagination(operation);
  return {
    data: exampleData(resource, operation),
    warnings: [],
    errors: [],
    ...(pagination && { meta: { pagination } }),
  };
}

function exampleData(resource: Resource, operation: Operation): unknown {
  const { name, fields } = answered(resource, operation);
  switch (dataForm(resource, operation)) {
    case 'counts':
      return Object.fromEntries((operation.countNames ?? []).map((count) => [count, 1284]));
    case 'deleted':
      return { id: sampleId(resource.type) };
    case 'records':
      return [exampleRecord(name, fields)];
    case 'record':
      return { ...exampleRecord(name, fields), ...sentValues(resource, operation, fields) };
  }
}

/** An update answers what was sent. */
function sentValues(resource: Resource, operation: Operation, fields: Fields): Json {
  if (operation.shape !== 'update') return {};
  const sent = Object.entries(exampleBody(resource, operation) as Json);
  return Object.fromEntries(sent.filter(([name]) => Object.hasOwn(fields, name) && name !== 'name'));
}

/** A record with every field, null where a record may well have nothing. */
export function exampleRecord(name: string, fields: Fields): Json {
  return Object.fromEntries(emittedFields(fields).map((field) => [field, exampleValue(name, field, fields)]));
}

function exampleValue(owner: string, name: string, fields: Fields): unknown {
  const field = fields[name];
  if (field === undefined) return null;
  const named = namedSample(owner, name);
  if (named !== undefined) return named;
  if (name === 'id') return field.kind.name === 'text' ? String(sampleId('PatientV1')) : sampleId(owner);
  if (field.kind.empty !== undefined) return field.kind.empty;
  return field.required || ALWAYS_THERE.has(field.kind.name) || field.kind.schema.const !== undefined
    ? sampleOf(field.kind)
    : null;
}

const ALWAYS_THERE: ReadonlySet<string> = new Set(['yesNo', 'dollars', 'object']);

/** What `meta.pagination` holds: names that are always there, and names that depend on the request (D17). */
export function paginationNames({ id, paging }: Operation): { always: string[]; sometimes: string[] } | undefined {
  // Only the first page of the aging report has pagination, and no `paging` of the catalog (D35).
  if (id === 'agingbalances.report') return { always: ['limit', 'total'], sometimes: [] };
  const { meta } = paging ?? {};
  if (meta === undefined) return undefined;
  const facts = [undefined, 1].flatMap((page) =>
    [undefined, 1].flatMap((lastId) => [true, false].map((byCursor) => ({ page, lastId, byCursor }))),
  );
  const seen = facts.map((fact) => Object.keys(meta({ limit: 1, offset: 0, total: 1, ...fact })));
  const names = [...new Set(seen.flat())];
  const always = names.filter((name) => seen.every((keys) => keys.includes(name)));
  return { always, sometimes: names.filter((name) => !always.includes(name)) };
}

function examplePagination(operation: Operation): Json | undefined {
  if (operation.id === 'agingbalances.report') return { limit: 1000, total: 18204 };
  const facts = { limit: 100, offset: 0, page: undefined, byCursor: true, lastId: sampleId(''), total: 1284 };
  return operation.paging?.meta?.(facts);
}

/** The body of a refusal, as an example. */
export function exampleFailure(status: number, problem: Omit<Problem, 'code'> & { readonly code: FailureCode }): Json {
  return { statusCode: status, data: null, warnings: [], errors: [wireError(problem)] };
}
