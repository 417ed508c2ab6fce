import type { Resource } from '../catalog/define.ts';
import type { Fields } from '../catalog/fields/kind.ts';
import { emittedFields } from '../catalog/record.ts';
import type { JsonRecord } from './store/layout.ts';

const blanks = new WeakMap<Resource, Readonly<Record<string, unknown>>>();

/** A record of a resource with nothing set but its type: null, or an empty list (D19), in the catalog's order. */
export function blankRecord(resource: Resource): Record<string, unknown> {
  const known = blanks.get(resource);
  if (known !== undefined) return { ...known };
  const { fields, type } = resource;
  const blank = Object.fromEntries(emittedFields(fields).map((name) => [name, emptyValue(fields, name)]));
  if (Object.hasOwn(blank, 'type')) blank.type = type;
  blanks.set(resource, blank);
  return { ...blank };
}

/** The value of a field that is not set. */
export function emptyValue(fields: Fields, name: string): unknown {
  return fields[name]?.kind.empty ?? null;
}

/** Sets the values whose names a record has, null as the field's empty value; returns the record. */
export function mergeValues<T extends Record<string, unknown>>(fields: Fields, record: T, values: JsonRecord): T {
  const target: Record<string, unknown> = record;
  for (const name of Object.keys(values)) {
    if (Object.hasOwn(target, name)) target[name] = values[name] ?? emptyValue(fields, name);
  }
  return record;
}

/** Selects fields of a record's JSON text; all of them when `selected` is undefined (D19). */
export function projectText(json: string, selected: readonly string[] | undefined): string {
  if (selected === undefined) return json;
  return JSON.stringify(projectRecord(JSON.parse(json) as JsonRecord, selected));
}

/** Selects fields of a record; all of them when `selected` is undefined (D19). */
export function projectRecord(record: JsonRecord, selected: readonly string[] | undefined): JsonRecord {
  if (selected === undefined) return record;
  return Object.fromEntries(selected.filter((name) => Object.hasOwn(record, name)).map((name) => [name, record[name]]));
}

/** JSON text of an array of records that are JSON text already. */
export function joinTexts(texts: readonly string[]): string {
  return `[${texts.join(',')}]`;
}
