import { API_PREFIX } from '../../catalog/catalog.ts';
import type { Operation, Resource } from '../../catalog/define.ts';
import type { FilterKey } from '../../catalog/filter/check.ts';
import { formatFilter, parseFilter, type RawTerm } from '../../catalog/filter/grammar.ts';
import { type Fields, isWritable } from '../../catalog/record.ts';
import { bodyName } from './names.ts';
import { namedSample, sampleId, sampleOf } from './samples.ts';

/** A request as it may be sent; `path` has its id filled in. */
export interface ExampleRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** An example request of an operation: what it requires, and a filter where it takes one. */
export function exampleRequest(resource: Resource, operation: Operation): ExampleRequest {
  const id = sampleId(resource.type);
  const required = Object.entries(operation.parameters ?? {}).filter(([, parameter]) => parameter.required);
  return {
    path: API_PREFIX + operation.path.replace(/\{\w+\}/, String(id)),
    query: {
      ...(operation.filters && { filter: filterExample(operation) }),
      ...(operation.selectable === 'required' && { responseFields: 'ALL' }),
      ...(operation.shape === 'list' && operation.paging?.style === 'cursor' && { lastId: '0' }),
      ...(operation.shape === 'list' && operation.paging?.style === 'pages' && { page: '1' }),
      ...Object.fromEntries(required.map(([name, parameter]) => [name, parameter.values.at(-1) ?? ''])),
    },
    ...(operation.body && { body: exampleBody(resource, operation) }),
  };
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

/** A body that an operation takes. */
export function exampleBody(resource: Resource, operation: Operation): unknown {
  const fields = operation.body ?? {};
  const mode = operation.shape === 'update' ? 'update' : 'create';
  const writable = Object.keys(fields).filter((name) => fields[name] !== undefined && isWritable(fields[name], mode));
  const shown =
    mode === 'update'
      ? (CHANGES[resource.name] ?? writable.slice(0, 1))
      : writable.filter((name) => fields[name]?.required || EXTRAS[resource.name]?.includes(name));
  const owner = bodyName(resource, operation) ?? resource.type;
  const body = Object.fromEntries(shown.map((name) => [name, valueFor(fields, owner, resource.type, name)]));
  return operation.bodyIsArray ? [body] : body;
}

function valueFor(fields: Fields, owner: string, type: string, name: string): unknown {
  const field = fields[name];
  if (field === undefined) return null;
  return namedSample(owner, name) ?? namedSample(type, name) ?? sampleOf(field.kind);
}

/** Filters worth showing, by resource; elsewhere the required keys, or the first. */
const FILTERS: Readonly<Record<string, string>> = {
  patients: 'lastName~=Ar,patientStatus==ACTIVE',
  documents: `ownerPatient.id==${sampleId('PatientV1')},tags->[X-Ray]`,
  transactions: 'transactionDate>=2026-01-01,ledgerType!=InsurancePayment',
  appointments: 'start>=2026-03-01,status!=CANCELLEDBYOFFICE',
  events: `start>=2026-03-01,start<2026-04-01,location.id==${sampleId('Location')}`,
  agingbalances: `location.id==${sampleId('Location')},page==1`,
};

/** A filter that an operation takes. */
export function filterExample(operation: Operation): string {
  const keys = operation.filters ?? {};
  const known = parseFilter(FILTERS[operation.id.split('.')[0] ?? ''] ?? '');
  if (known.length > 0 && known.every((term) => Object.hasOwn(keys, term.key))) return formatFilter(known);
  const required = Object.values(keys).filter((key) => key.required);
  return formatFilter((required.length > 0 ? required : Object.values(keys).slice(0, 1)).map(exampleTerm));
}

function exampleTerm(key: FilterKey): RawTerm {
  const [operator = '=='] = key.operators;
  return { key: key.key, operator, values: [VALUE_SAMPLES[key.value.name] ?? key.value.values?.[0] ?? '1'] };
}

const VALUE_SAMPLES: Readonly<Record<string, string>> = {
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
