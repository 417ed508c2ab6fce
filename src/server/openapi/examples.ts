import { API_PREFIX } from '../../catalog/catalog.ts';
import type { Operation, Resource } from '../../catalog/define.ts';
import { type FailureCode, wireError } from '../../catalog/failures.ts';
import type { Field, Fields } from '../../catalog/fields/kind.ts';
import type { FilterKey } from '../../catalog/filter/check.ts';
import { formatFilter, parseFilter, type RawTerm } from '../../catalog/filter/grammar.ts';
import { emittedFields, isWritable } from '../../catalog/record.ts';
import { dataForm } from './envelopes.ts';
import { bodyName, type Json, recordName } from './names.ts';
import { namedSample, sampleId, sampleOf } from './samples.ts';

/** A request as it may be sent; `path` has its id filled in. */
export interface ExampleRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What an update changes in its example, by resource; elsewhere the first field that can be written. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  patients: ['patientStatus', 'emailAddress'],
  documents: ['tags'],
  appointments: ['status', 'start'],
  missedappointments: ['reasonCancelled'],
  events: ['title', 'duration'],
};

/** What a creation has in its example beside what it requires. */
const EXTRAS: Readonly<Record<string, readonly string[]>> = {
  patients: ['emailAddress'],
  documents: ['ownerPatient', 'tags'],
};

/** Filters worth showing, by resource; elsewhere the required keys, or the first. */
const FILTERS: Readonly<Record<string, string>> = {
  patients: 'lastName~=Ar,patientStatus==ACTIVE',
  documents: `ownerPatient.id==${sampleId('PatientV1')},tags->[X-Ray]`,
  transactions: 'transactionDate>=2026-01-01,ledgerType!=InsurancePayment',
  appointments: 'start>=2026-03-01,status!=CANCELLEDBYOFFICE',
  events: `start>=2026-03-01,start<2026-04-01,location.id==${sampleId('Location')}`,
  agingbalances: `location.id==${sampleId('Location')},page==1`,
};

const FILTER_VALUES: Readonly<Record<string, string>> = {
  id: String(sampleId('PatientV1')),
  text: 'A',
  date: '2026-03-02',
  dateTime: '2026-03-02T15:30:00Z',
  digits: '303-555-0142',
  tag: 'X-Ray',
  timeZone: 'America/Denver',
  integer: '10',
  dollars: '120.50',
};

/** Kinds of values that records in examples always have. */
const ALWAYS_THERE: ReadonlySet<string> = new Set(['yesNo', 'dollars', 'object']);

/** An example request of an operation: what it requires, and a filter where it takes one. */
export function exampleRequest(resource: Resource, operation: Operation): ExampleRequest {
  const { filters, selectable, shape, paging, parameters = {} } = operation;
  const required = Object.entries(parameters).filter(([, parameter]) => parameter.required);
  return {
    path: API_PREFIX + operation.path.replace(/\{\w+\}/, String(sampleId(resource.type))),
    query: {
      ...(filters && { filter: filterExample(operation) }),
      ...(selectable === 'required' && { responseFields: 'ALL' }),
      ...(shape === 'list' && paging?.style === 'cursor' && { lastId: '0' }),
      ...(shape === 'list' && paging?.style === 'pages' && { page: '1' }),
      ...Object.fromEntries(required.map(([name, parameter]) => [name, parameter.values.at(-1) ?? ''])),
    },
    ...(operation.body && { body: exampleBody(resource, operation) }),
  };
}

/** A body that an operation takes. */
export function exampleBody(resource: Resource, operation: Operation): unknown {
  const fields = operation.body ?? {};
  const mode = operation.shape === 'update' ? 'update' : 'create';
  const writable = Object.entries(fields).flatMap(([name, field]) => (isWritable(field, mode) ? [name] : []));
  const shown =
    mode === 'update'
      ? (CHANGES[resource.name] ?? writable.slice(0, 1))
      : writable.filter((name) => fields[name]?.required || EXTRAS[resource.name]?.includes(name));
  const owner = bodyName(resource, operation);
  const values = shown.map((name) => {
    const kind = fields[name]?.kind;
    return [name, namedSample(owner, name) ?? namedSample(resource.type, name) ?? (kind ? sampleOf(kind) : null)];
  });
  const body = Object.fromEntries(values);
  return operation.bodyIsArray ? [body] : body;
}

/** A filter that an operation takes. */
export function filterExample(operation: Operation): string {
  const keys = operation.filters ?? {};
  const known = parseFilter(FILTERS[operation.id.split('.')[0] ?? ''] ?? '');
  if (known.length > 0 && known.every((term) => Object.hasOwn(keys, term.key))) return formatFilter(known);
  const required = Object.values(keys).filter((key) => key.required);
  return formatFilter((required.length > 0 ? required : Object.values(keys).slice(0, 1)).map(exampleTerm));
}

function exampleTerm({ key, operators: [operator = '=='], value }: FilterKey): RawTerm {
  return { key, operator, values: [FILTER_VALUES[value.name] ?? value.values?.[0] ?? '1'] };
}

/** The body of a successful response. */
export function exampleResponse(resource: Resource, operation: Operation): Json {
  const { id, paging } = operation;
  const facts = { limit: 100, offset: 0, page: undefined, byCursor: true, lastId: sampleId(''), total: 1284 };
  const pagination = id === 'agingbalances.report' ? { limit: 1000, total: 18204 } : paging?.meta?.(facts);
  const data = exampleData(resource, operation);
  return { data, warnings: [], errors: [], ...(pagination && { meta: { pagination } }) };
}

function exampleData(resource: Resource, operation: Operation): unknown {
  const { countNames = [], fields = resource.fields } = operation;
  const record = () => exampleRecord(recordName(resource, operation), fields);
  switch (dataForm(resource, operation)) {
    case 'counts':
      return Object.fromEntries(countNames.map((count) => [count, 1284]));
    case 'deleted':
      return { id: sampleId(resource.type) };
    case 'records':
      return [record()];
    case 'record':
      return { ...record(), ...updatedValues(resource, operation, fields) };
  }
}

/** The response to an update has what was sent. */
function updatedValues(resource: Resource, operation: Operation, fields: Fields): Json {
  if (operation.shape !== 'update') return {};
  const sent = Object.entries(exampleBody(resource, operation) as Json);
  return Object.fromEntries(sent.filter(([name]) => Object.hasOwn(fields, name) && name !== 'name'));
}

/** A record with every field, null where a record may well have nothing. */
function exampleRecord(type: string, fields: Fields): Json {
  return Object.fromEntries(
    emittedFields(fields).map((name) => [name, exampleValue(type, name, fields[name] as Field)]),
  );
}

function exampleValue(type: string, name: string, { kind, required }: Field): unknown {
  const named = namedSample(type, name);
  if (named !== undefined) return named;
  if (name === 'id') return kind.name === 'text' ? String(sampleId('PatientV1')) : sampleId(type);
  if (kind.empty !== undefined) return kind.empty;
  return required || ALWAYS_THERE.has(kind.name) || kind.schema.const !== undefined ? sampleOf(kind) : null;
}

/** The body of a refusal. */
export function exampleFailure(status: number, code: FailureCode, source: string | null, description: string): Json {
  return { statusCode: status, data: null, warnings: [], errors: [wireError({ code, source, description })] };
}
