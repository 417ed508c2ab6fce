import type { Kind } from '../../catalog/fields/kind.ts';
import { emittedFields, type Field, type Fields, isWritable } from '../../catalog/record.ts';
import { byName, type Json, ref } from './json.ts';

/** What a schema is for: what the server answers, or what a body may hold. */
export type Use = 'answer' | 'create' | 'update';

/** How a record is answered. Records of `computed` resources are never stored, so none of their values is missing. */
export interface AnswerStyle {
  readonly computed: boolean;
  /** `responseFields` may leave fields out. */
  readonly selectable: boolean;
}

type Names = ReadonlyMap<Fields, string>;

/** Schema of a record that is answered: every field, null where a record has no value (D19). */
export function answerSchema(fields: Fields, style: AnswerStyle, names: Names): Json {
  const emitted = emittedFields(fields);
  const required = style.computed && !style.selectable ? emitted : emitted.filter((name) => ALWAYS.includes(name));
  return {
    type: 'object',
    properties: byName(emitted.map((name) => [name, answerField(name, fields[name] as Field, style, names)] as const)),
    ...(required.length > 0 && { required }),
  };
}

/** Fields that no selection leaves out and no record lacks (D19). */
const ALWAYS: readonly string[] = ['id', 'type'];

function answerField(name: string, field: Field, style: AnswerStyle, names: Names): Json {
  const missing = style.computed ? field.kind.name === 'text' : field.kind.empty === undefined;
  const schema = kindSchema(field.kind, 'answer', style, names);
  const shown = missing && !ALWAYS.includes(name) ? nullable(schema) : schema;
  return { ...shown, description: describeField(field) };
}

/** Schema of a JSON body: the writable fields only; null clears one that is not required. */
export function bodySchema(fields: Fields, use: 'create' | 'update', names: Names, nested = false): Json {
  const writable = Object.entries(fields).filter(([, field]) => isWritable(field, use));
  const required = writable.filter(([, field]) => field.required && (use === 'create' || nested)).map(([name]) => name);
  return {
    type: 'object',
    properties: byName(
      writable.map(([name, field]) => {
        const schema = kindSchema(field.kind, use, STORED, names);
        return [name, { ...(field.required ? schema : nullable(schema)), description: describeField(field) }] as const;
      }),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

const STORED: AnswerStyle = { computed: false, selectable: true };

/** Schema of one kind of value. */
function kindSchema(kind: Kind, use: Use, style: AnswerStyle, names: Names): Json {
  if (kind.name === 'link') return ref('schemas', 'Link');
  if (kind.name === 'organizationLink') return ref('schemas', 'OrganizationLink');
  if (kind.fields !== undefined) return objectSchema(kind.fields, use, style, names);
  if (kind.item !== undefined) {
    const item = kindSchema(kind.item, use, style, names);
    return kind.schema.type === 'array'
      ? { type: 'array', items: item }
      : { type: 'object', additionalProperties: item };
  }
  return use === 'answer' ? withoutLengths(kind.schema) : kind.schema;
}

function objectSchema(fields: Fields, use: Use, style: AnswerStyle, names: Names): Json {
  const name = use === 'answer' ? names.get(fields) : undefined;
  if (name !== undefined) return ref('schemas', name);
  if (use !== 'answer') return bodySchema(fields, use, names, true);
  const schema = answerSchema(fields, style, names);
  if (style.computed) return schema;
  // Parts of a stored object may be left out altogether: a document without thumbnail has no link to one.
  const { required: _, ...open } = schema;
  return open;
}

/** Limits on length are for those who write: numbering may have made a stored name longer (D36). */
function withoutLengths({ minLength: _min, maxLength: _max, ...schema }: Json): Json {
  return schema;
}

/** The same schema that also allows null. */
export function nullable(schema: Json): Json {
  if (typeof schema.type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  const listed = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {};
  return { ...schema, ...listed, type: [schema.type, 'null'] };
}

function describeField({ about, kind }: Field): string {
  return kind.target === undefined ? about : `${about} (link to ${kind.target})`;
}
