import { createHash } from 'node:crypto';
import type { Resource } from '../../catalog/define.ts';
import type { FilterKey } from '../../catalog/filter/check.ts';
import { digitsOf, foldText } from '../../catalog/filter/values.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

/** A column that a table keeps beside the wire JSON, and its value for a record. */
export interface Column {
  readonly name: string;
  readonly of: (record: JsonRecord) => string | number | null;
}

/** Where the records of a resource live: columns for single-valued filter keys, side tables for the others. */
export interface Layout {
  readonly table: string;
  readonly columns: readonly Column[];
  readonly sides: readonly Side[];
}

export interface Side {
  readonly table: string;
  readonly key: FilterKey;
  readonly of: (record: JsonRecord) => readonly string[];
}

/** `preferredLocation.id` → `preferred_location_id`. */
export function columnName(key: string): string {
  return key.replaceAll('.', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function foldColumn(key: string): string {
  return `${columnName(key)}_fold`;
}

export function tableOf(resource: Resource): string {
  return resource.name;
}

export function sideTable(resource: Resource, key: string): string {
  return `${tableOf(resource)}_${columnName(key)}`;
}

const layouts = new Map<Resource, Layout>();

export function layoutOf(resource: Resource): Layout {
  const known = layouts.get(resource);
  if (known !== undefined) return known;
  const keys = Object.values(resource.filters).filter((key) => key.key !== 'id');
  const layout: Layout = {
    table: tableOf(resource),
    columns: keys.flatMap(columnsOf),
    sides: keys.filter((key) => key.value.match === 'many').map((key) => sideOf(resource, key)),
  };
  layouts.set(resource, layout);
  return layout;
}

function columnsOf(key: FilterKey): Column[] {
  if (key.value.match === 'many') return [];
  const at = key.key.split('.');
  const form = key.value.name === 'text' ? normalized : scalar;
  const read = readerOf(at);
  const exact: Column = { name: columnName(key.key), of: (record) => form(read(record)) };
  if (key.value.match !== 'text') return [exact];
  return [exact, { name: foldColumn(key.key), of: (record) => folded(read(record)) }];
}

function sideOf(resource: Resource, key: FilterKey): Side {
  const at = key.key.split('.');
  const form = key.value.name === 'digits' ? digitsOf : foldText;
  return {
    table: sideTable(resource, key.key),
    key,
    of: (record) => [...new Set(valuesAt(record, at).map(form))].filter((value) => value !== ''),
  };
}

/** Reads what stands at a path; most paths have one step or two. */
function readerOf(at: readonly string[]): (record: JsonRecord) => unknown {
  const [first = '', second, ...rest] = at;
  if (second === undefined) return (record) => record[first];
  if (rest.length > 0) return (record) => valueAt(record, at);
  return (record) => (record[first] as JsonRecord | null | undefined)?.[second];
}

function valueAt(record: unknown, at: readonly string[]): unknown {
  let value = record;
  for (const name of at) value = (value as JsonRecord | null | undefined)?.[name];
  return value;
}

/** Text values at a path whose first step is a list: `phones.number`, `tags`. */
function valuesAt(record: JsonRecord, at: readonly string[]): string[] {
  const [first = '', ...rest] = at;
  const list = record[first];
  if (!Array.isArray(list)) return [];
  return list.map((item) => valueAt(item, rest)).filter((value) => typeof value === 'string');
}

function scalar(value: unknown): string | number | null {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'string') return columnText(value);
  return typeof value === 'number' ? value : null;
}

function normalized(value: unknown): string | null {
  return typeof value === 'string' ? columnText(value.normalize('NFC')) : null;
}

function folded(value: unknown): string | null {
  return typeof value === 'string' ? columnText(foldText(value)) : null;
}

/** Longest text that a column keeps whole, in UTF-16 units: PostgreSQL takes some 2,700 bytes into an index. */
const WHOLE = 500;

/** The form of a text in columns: what is longer than any name keeps its beginning, and tells itself from others by a hash. */
export function columnText(text: string): string {
  if (text.length <= WHOLE) return text;
  return text.slice(0, WHOLE) + createHash('sha256').update(text).digest('hex');
}
