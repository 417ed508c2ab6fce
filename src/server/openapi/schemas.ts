import { allOperations, RESOURCES } from '../../catalog/catalog.ts';
import { FAILURES } from '../../catalog/failures.ts';
import type { Field, Fields, Kind } from '../../catalog/fields/kind.ts';
import { emittedFields, isWritable } from '../../catalog/record.ts';
import { envelopeName, envelopeSchema } from './envelopes.ts';
import { bodyName, type Json, NAMED_FIELDS, objectOf, ref } from './names.ts';

/** Schemas that every operation shares. */
const SHARED_SCHEMAS: Json = {
  Link: objectOf(
    { id: { type: 'integer', format: 'int64', minimum: 1 } },
    'A link to a record of the same organization.',
  ),
  OrganizationLink: objectOf({ id: { type: 'string' } }, 'A link to an organization, whose ids are text.'),
  Warning: objectOf(
    {
      title: { type: 'string' },
      description: { type: 'string' },
      source: { type: ['string', 'null'], description: 'The parameter, filter key or property it is about' },
    },
    'Something worth knowing about a request that succeeded.',
  ),
  FailureCode: {
    type: 'string',
    description: 'Why a request was refused; codes are stable.',
    enum: Object.keys(FAILURES),
  },
  ErrorItem: objectOf({
    code: ref('schemas', 'FailureCode'),
    title: { type: 'string' },
    description: { type: 'string', description: 'What was wrong, and what is expected' },
    source: {
      type: ['string', 'null'],
      description: 'The body field path, filter key, query parameter or header at fault',
    },
  }),
  Failure: objectOf(
    {
      statusCode: { type: 'integer' },
      data: { type: 'null' },
      warnings: { type: 'array', items: ref('schemas', 'Warning') },
      errors: { type: 'array', items: ref('schemas', 'ErrorItem'), minItems: 1 },
    },
    'The body of every error response; all problems of a request are reported together.',
  ),
};

/** How records are returned. Those of `computed` resources are never stored, so none of their values is missing. */
interface ResponseUse {
  readonly computed: boolean;
  /** `responseFields` may leave fields out. */
  readonly selectable: boolean;
}

/** What a schema is for: a response, or the body of a request. */
type Use = ResponseUse | 'create' | 'update';

/** Fields that no selection leaves out and no record lacks (D19). */
const ALWAYS: readonly string[] = ['id', 'type'];

/** Every schema of the API: those that are shared, and records, bodies and envelopes of each operation. */
export function apiSchemas(): Json {
  const operations = allOperations();
  const bodies = operations.flatMap(({ resource, operation }) => {
    if (operation.body === undefined) return [];
    const use = operation.shape === 'update' ? 'update' : 'create';
    return [[bodyName(resource, operation), bodySchema(operation.body, use)]];
  });
  const envelopes = operations.map(({ resource, operation }) => [
    envelopeName(resource, operation),
    envelopeSchema(resource, operation),
  ]);
  return {
    ...SHARED_SCHEMAS,
    ...Object.fromEntries([...NAMED_FIELDS].map(([fields, name]) => [name, recordSchema(fields, useOf(fields))])),
    ...Object.fromEntries(bodies),
    ...Object.fromEntries(envelopes),
  };
}

function useOf(fields: Fields): ResponseUse {
  const operations = allOperations().filter(({ operation }) => operation.fields === fields);
  const owners = [...operations.map(({ resource }) => resource), ...RESOURCES.filter((one) => one.fields === fields)];
  return {
    computed: owners.some(({ computed }) => computed),
    selectable: operations.some(({ operation }) => operation.selectable),
  };
}

/** Schema of a record in a response: every field, null where a record has no value (D19). */
function recordSchema(fields: Fields, use: ResponseUse): Json {
  const emitted = emittedFields(fields);
  const required = use.computed && !use.selectable ? emitted : emitted.filter((name) => ALWAYS.includes(name));
  return {
    type: 'object',
    properties: Object.fromEntries(emitted.map((name) => [name, responseField(name, fields[name] as Field, use)])),
    ...(required.length > 0 && { required }),
  };
}

function responseField(name: string, field: Field, use: ResponseUse): Json {
  const missing = use.computed ? field.kind.name === 'text' : field.kind.empty === undefined;
  const schema = kindSchema(field.kind, use);
  const shown = missing && !ALWAYS.includes(name) ? nullable(schema) : schema;
  return { ...shown, description: describeField(field) };
}

/** Schema of a JSON body: the writable fields only; null clears one that is not required. */
export function bodySchema(fields: Fields, use: 'create' | 'update', nested = false) {
  const writable = Object.entries(fields).filter(([, field]) => isWritable(field, use));
  const required = writable.filter(([, field]) => field.required && (use === 'create' || nested)).map(([name]) => name);
  const properties = writable.map(([name, field]): [string, Json] => {
    const schema = kindSchema(field.kind, use);
    return [name, { ...(field.required ? schema : nullable(schema)), description: describeField(field) }];
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Schema of one kind of value. */
function kindSchema(kind: Kind, use: Use): Json {
  if (kind.name === 'link') return ref('schemas', 'Link');
  if (kind.name === 'organizationLink') return ref('schemas', 'OrganizationLink');
  if (kind.fields !== undefined) return objectSchema(kind.fields, use);
  if (kind.item !== undefined) {
    const item = kindSchema(kind.item, use);
    return kind.schema.type === 'array'
      ? { type: 'array', items: item }
      : { type: 'object', additionalProperties: item };
  }
  if (typeof use === 'string') return kind.schema;
  // Limits on length are for those who write: numbering may have made a stored name longer (D36).
  const { minLength: _min, maxLength: _max, ...schema } = kind.schema;
  return schema;
}

function objectSchema(fields: Fields, use: Use): Json {
  if (typeof use === 'string') return bodySchema(fields, use, true);
  const name = NAMED_FIELDS.get(fields);
  if (name !== undefined) return ref('schemas', name);
  const schema = recordSchema(fields, use);
  if (use.computed) return schema;
  // Parts of a stored object may be left out altogether: a document without thumbnail has no link to one.
  const { required: _, ...open } = schema;
  return open;
}

/** The same schema that also allows null. */
function nullable(schema: Json): Json {
  if (typeof schema.type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  const listed = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {};
  return { ...schema, ...listed, type: [schema.type, 'null'] };
}

function describeField({ about, kind }: Field): string {
  return kind.target === undefined ? about : `${about} (link to ${kind.target})`;
}
