import { RESOURCES } from '../../catalog/catalog.ts';
import type { Operation, Resource } from '../../catalog/define.ts';
import type { Fields } from '../../catalog/fields/kind.ts';

/** A JSON object of the document: schemas, parameters, responses. */
export type Json = Readonly<Record<string, unknown>>;

/** A reference to a component of the document. */
export function ref(section: 'schemas' | 'parameters' | 'headers' | 'responses', name: string): Json {
  return { $ref: `#/components/${section}/${name}` };
}

/** Schema of an object that always has all of its properties. */
export function objectOf(properties: Json, description?: string): Json {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties,
    required: Object.keys(properties),
  };
}

/** Puts a word before the version of a type name: `PatientV1` and `Update` give `PatientUpdateV1`. */
export function typeNameWith(type: string, word: string): string {
  return type.replace(/(V\d+)?$/, (version) => word + version);
}

/** A word with a capital first letter. */
export function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The name of the records in an operation's response; the resource's type where it has none. */
export function recordName(resource: Resource, { fields, shape }: Operation): string {
  if (fields === undefined || fields === resource.fields) return resource.type;
  const own = fields.type?.kind.schema.const;
  return typeof own === 'string' ? own : typeNameWith(resource.type, capitalized(shape));
}

/** The name of the body that an operation takes, of one entry where the body is an array. */
export function bodyName(resource: Resource, operation: Operation): string {
  const word = operation.shape === 'replace' ? 'Set' : capitalized(operation.shape);
  return typeNameWith(recordName(resource, operation), word);
}

/** The operation's id as one word: `patients.billingtypesList` gives `patientsBillingtypesList`. */
export function operationName(operation: Operation): string {
  return operation.id.replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Names of the field sets that are components of their own, so that objects inside others can refer to them. */
export const NAMED_FIELDS: ReadonlyMap<Fields, string> = new Map(
  RESOURCES.flatMap((resource) => [
    [resource.fields, resource.type] as const,
    ...Object.values(resource.operations).flatMap((operation) =>
      operation.fields === undefined ? [] : [[operation.fields, recordName(resource, operation)] as const],
    ),
  ]),
);
