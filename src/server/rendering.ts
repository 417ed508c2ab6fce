import type { Resource } from '../catalog/define.ts';
import { emittedFields, type Fields } from '../catalog/record.ts';
import type { JsonRecord } from './store/layout.ts';

/** A record of a resource with nothing set but its type: null, or an empty list (D19), in the catalog's order. */
export function blankRecord(resource: Resource): Record<string, unknown> {
  const known = blanks.get(resource);
  if (known !== undefined) return { ...known };
  const { fields, type } = resource;
  const blank = Object.fromEntries(emittedFields(fields).map((name) => [name, emptyValue(fields, name)]));
  const made = Object.hasOwn(blank, 'type') ? { ...blank, type } : blank;
  blanks.set(resource, made);
  return { ...made };
}

const blanks = new WeakMap<Resource, Readonly<Record<string, unknown>>>();

export function emptyValue(fields: Fields, name: string): unknown {
  return fields[name]?.kind.empty ?? null;
}

/** Keeps the selected fields of a record's JSON text; all of them when nothing was selected (D19). */
export function projectText(json: string, selected: readonly string[] | undefined): string {
  if (selected === undefined) return json;
  return JSON.stringify(projectRecord(JSON.parse(json) as JsonRecord, selected));
}

export function projectRecord(record: JsonRecord, selected: readonly string[] | undefined): JsonRecord {
  if (selected === undefined) return record;
  return Object.fromEntries(selected.filter((name) => Object.hasOwn(record, name)).map((name) => [name, record[name]]));
}

/** JSON text of an array of records that are JSON text already. */
export function joinTexts(texts: readonly string[]): string {
  return `[${texts.join(',')}]`;
}
