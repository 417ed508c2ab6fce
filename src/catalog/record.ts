import { MAX_PROBLEMS } from './failures.ts';
import { type Field, type Fields, fail, type Kind, type ReadContext, shown } from './fields/kind.ts';

/** The values of a record whose fields are `F`, null where it has none. */
export type RecordOf<F extends Fields> = { -readonly [K in keyof F]: F[K] extends Field<infer T> ? T | null : never };

export function required<T>(kind: Kind<T>, about: string): Field<T> {
  return { kind, access: 'readWrite', required: true, about };
}

export function optional<T>(kind: Kind<T>, about: string): Field<T> {
  return { kind, access: 'readWrite', required: false, about };
}

export function readOnly<T>(kind: Kind<T>, about: string): Field<T> {
  return { kind, access: 'readOnly', required: false, about };
}

export function createOnly<T>(kind: Kind<T>, about: string): Field<T> {
  return { kind, access: 'createOnly', required: false, about };
}

export function requiredOnCreate<T>(kind: Kind<T>, about: string): Field<T> {
  return { kind, access: 'createOnly', required: true, about };
}

export function inputOnly<T>(kind: Kind<T>, about: string): Field<T> {
  return { kind, access: 'input', required: true, about };
}

export function isWritable(field: Field, mode: 'create' | 'update'): boolean {
  return mode === 'create' ? field.access !== 'readOnly' : field.access === 'readWrite';
}

/** Names that responses, columns and responseFields know: every field but those that only come in. */
export function emittedFields(fields: Fields): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.access !== 'input');
}

/**
 * Reads a body against its fields: canonical values of what was sent (null for a cleared field), with every problem
 * and warning reported. Unknown names are refused, read-only ones ignored with a warning (D44). `besides`: names that
 * are no fields and that somebody else reads.
 */
export function readFields(
  fields: Fields,
  body: Readonly<Record<string, unknown>>,
  context: ReadContext,
  prefix = '',
  besides?: ReadonlySet<string>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const { byName } = lookupOf(fields);
  for (const name of Object.keys(body)) {
    if (context.problems.length >= MAX_PROBLEMS) break;
    if (besides?.has(name) === true) continue;
    const input = body[name];
    const field = byName.get(name);
    const at = prefix + shown(name);
    if (field === undefined) {
      fail(context, 'body.unknown_property', at, `${at} is not known here. Known: ${Object.keys(fields).join(', ')}.`);
    } else if (context.mode !== 'import' && !isWritable(field, context.mode)) {
      context.warnings.push({
        title: 'Read-only property',
        description: `${at} is read-only and was ignored.`,
        source: at,
      });
    } else if (input === null || input === undefined) {
      values[name] = null;
    } else {
      const value = field.kind.read(input, at, context);
      if (value !== undefined) values[name] = value;
    }
  }
  reportMissing(fields, body, values, context, prefix);
  return values;
}

/** Canonical values in the form in which they are sent (D50). */
export function wireValues(
  fields: Fields,
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const sent = Object.entries(values).map(([name, value]) => {
    const kind = fields[name]?.kind;
    return [name, value === null || kind?.wire === undefined ? value : kind.wire(value)] as const;
  });
  return Object.fromEntries(sent);
}

function reportMissing(
  fields: Fields,
  body: Readonly<Record<string, unknown>>,
  values: Readonly<Record<string, unknown>>,
  context: ReadContext,
  prefix: string,
): void {
  const nested = prefix !== '';
  // Records from elsewhere may lack fields; half a phone or an empty file is no value at all.
  if (context.mode === 'import' && !nested) return;
  for (const name of lookupOf(fields).required) {
    const absent = body[name] === undefined && (nested || context.mode === 'create');
    const cleared = values[name] === null && Object.hasOwn(values, name) && body[name] !== undefined;
    if (absent || cleared) fail(context, 'field.missing', prefix + name, `${prefix}${name} is required.`);
  }
}

/** What reading looks for in fields, made once. */
interface Lookup {
  readonly byName: ReadonlyMap<string, Field>;
  readonly required: readonly string[];
}

const lookups = new WeakMap<Fields, Lookup>();

function lookupOf(fields: Fields): Lookup {
  const known = lookups.get(fields);
  if (known !== undefined) return known;
  const entries = Object.entries(fields);
  const required = entries.filter(([, field]) => field.required).map(([name]) => name);
  const made = { byName: new Map(entries), required };
  lookups.set(fields, made);
  return made;
}
