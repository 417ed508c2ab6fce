import type { Operation, Resource } from '../../catalog/define.ts';
import type { Fields } from '../../catalog/record.ts';

/** Puts a word before the version of a type name: `PatientV1` and `Update` give `PatientUpdateV1`. */
export function typeNameWith(type: string, word: string): string {
  return type.replace(/(V\d+)?$/, (version) => word + version);
}

/** The name of the records that an operation answers; undefined when it answers none. */
export function recordName(resource: Resource, operation: Operation): string | undefined {
  const { fields } = operation;
  if (fields === undefined) return undefined;
  if (fields === resource.fields) return resource.type;
  const own = fields.type?.kind.schema.const;
  return typeof own === 'string' ? own : typeNameWith(resource.type, capital(operation.shape));
}

const BODY_WORDS: Readonly<Partial<Record<Operation['shape'], string>>> = {
  create: 'Create',
  update: 'Update',
  replace: 'Set',
};

/** The name of the body that an operation takes, of one entry where the body is an array; undefined without a body. */
export function bodyName(resource: Resource, operation: Operation): string | undefined {
  if (operation.body === undefined) return undefined;
  return typeNameWith(recordName(resource, operation) ?? resource.type, BODY_WORDS[operation.shape] ?? 'Body');
}

/** The operation's id as one word: `patients.billingtypesList` gives `patientsBillingtypesList`. */
export function operationName(operation: Operation): string {
  return operation.id.replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Names of the field sets that are components of their own, so that objects inside others can refer to them. */
export function namedFields(resources: readonly Resource[]): ReadonlyMap<Fields, string> {
  const names = new Map<Fields, string>();
  for (const resource of resources) {
    names.set(resource.fields, resource.type);
    for (const operation of Object.values(resource.operations)) {
      const name = recordName(resource, operation);
      if (operation.fields !== undefined && name !== undefined) names.set(operation.fields, name);
    }
  }
  return names;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
