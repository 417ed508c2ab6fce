import { createHash } from 'node:crypto';
import type { CompositeIndex, Resource } from '../../catalog/define.ts';
import type { FilterKey } from '../../catalog/filter/check.ts';
import { digitsOf, foldText, locationValue } from '../../catalog/filter/values.ts';
import { emittedFields } from '../../catalog/record.ts';
import { type ColumnValue, OWN_PARTS, type OwnColumn } from './owncolumns.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

/** Values of columns that do not follow from the record, by column name: whoever writes the record gives them. */
export type OwnValues = Readonly<Record<string, ColumnValue>>;

/** A column beside the wire JSON. */
export interface Column extends OwnColumn {
  /** Many records share each value. */
  readonly fewValues?: boolean;
}

/** An index: its columns from first to last, and the condition of the records that it holds. */
export interface Index {
  readonly table: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly where?: string;
  /** It guards a rule: what two records may not share. */
  readonly unique?: string;
}

/**
 * Where the records of a resource live: columns for single-valued filter keys and for what the server needs itself, side
 * tables for keys with many values, indexes. It follows from the catalog and from `OWN_PARTS`; nothing else says it.
 */
export interface Layout {
  readonly resource: Resource;
  readonly table: string;
  readonly columns: readonly Column[];
  readonly sides: readonly Side[];
  readonly indexes: readonly Index[];
  /** The column of the location by which records are counted as they are written (`counts.ts`); undefined where there is none. */
  readonly place: Column | undefined;
  /** Names in the stored JSON of a record, in its order. */
  readonly fields: readonly string[];
}

/** A table with a row for each of the values that a record has for a filter key. */
export interface Side {
  readonly table: string;
  readonly of: (record: JsonRecord) => readonly string[];
}

/** `preferredLocation.id` → `preferred_location_id`. */
export function columnName(key: string): string {
  return key.replaceAll('.', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** SQL of the id that a link of the records has, by an alias of their table: a link that no filter key asks for has no column. */
export function linkColumn(resource: Resource, alias: string, link: string): string {
  const column = columnName(`${link}.id`);
  return layoutOf(resource).columns.some(({ name }) => name === column)
    ? `${alias}.${column}`
    : linkInJson(alias, link);
}

/** As `linkColumn`, of a kind of record that has no columns. */
export function linkInJson(alias: string, link: string): string {
  return `CAST(json_extract(${alias}.json, '$.${link}.id') AS BIGINT)`;
}

/** The column of the folded form of a text, by which it is found in any letter case. */
export function foldColumn(key: string): string {
  return `${columnName(key)}_fold`;
}

/** The table of a resource. */
export function tableOf(resource: Resource): string {
  return resource.name;
}

/** The side table of a key with many values. */
export function sideTable(resource: Resource, key: string): string {
  return identifier(`${tableOf(resource)}_${columnName(key)}`);
}

const layouts = new Map<Resource, Layout>();

/** The layout of a resource, made once. */
export function layoutOf(resource: Resource): Layout {
  const known = layouts.get(resource);
  if (known !== undefined) return known;
  const table = tableOf(resource);
  const keys = Object.values(resource.filters).filter((key) => key.key !== 'id');
  const single = keys.filter((key) => key.value.match !== 'many');
  const sides = keys.filter((key) => key.value.match === 'many').map((key) => sideOf(resource, key));
  const own = OWN_PARTS[resource.name] ?? {};
  const keyed = single.flatMap(columnsOf);
  // A key that the catalog has got meanwhile has the column.
  const unkeyed = (own.columns ?? []).filter(({ name }) => keyed.every((column) => column.name !== name));
  const layout: Layout = {
    resource,
    table,
    columns: [...keyed, ...unkeyed],
    sides,
    place: single.filter(({ value }) => value === locationValue).flatMap(columnsOf)[0],
    indexes: [
      ...single.flatMap((key) => indexesOf(table, key)),
      ...(resource.indexes ?? []).map((index) => compositeOf(table, index)),
      ...(own.indexes ?? []).map((index) => ({ table, ...index })),
      ...sides.map((side) => ({ table: side.table, name: identifier(`${side.table}_by_id`), columns: ['org', 'id'] })),
    ],
    fields: emittedFields(resource.fields).filter((name) => own.rendered?.includes(name) !== true),
  };
  layouts.set(resource, layout);
  return layout;
}

function columnsOf(key: FilterKey): Column[] {
  const at = key.key.split('.');
  const { name, match } = key.value;
  const form = name === 'text' ? normalized : scalar;
  const read = readerOf(at);
  const { fewValues } = key;
  const type = NUMERIC.has(name) ? 'INTEGER' : 'TEXT';
  const exact: Column = { name: columnName(key.key), type, fewValues, of: (record) => form(read(record)) };
  if (match !== 'text') return [exact];
  return [exact, { name: foldColumn(key.key), type, fewValues, of: (record) => folded(read(record)) }];
}

/** Kinds of filter values that are numbers, or 0 and 1, in columns. */
const NUMERIC: ReadonlySet<string> = new Set(['id', 'yesNo', 'integer', 'dollars']);

/** The index of a key: text is found by its folded form alone. */
function indexesOf(table: string, { key, value, index }: FilterKey): Index[] {
  if (index === 'none') return [];
  const column = value.match === 'text' ? foldColumn(key) : columnName(key);
  return [indexOver(table, [column], index === 'present' ? `${column} IS NOT NULL` : undefined)];
}

function compositeOf(table: string, { keys, present, unless }: CompositeIndex): Index {
  const columns = keys.map(columnName);
  const except = unless && noneOf(columnName(unless.key), unless.values);
  return indexOver(table, columns, present === true ? `${columns[0]} IS NOT NULL` : except);
}

/** The condition that a column has none of some values: SQLite takes an index with a condition by its very words. */
export function noneOf(column: string, values: readonly string[]): string {
  return `${column} NOT IN (${values.map((value) => `'${value}'`).join(', ')})`;
}

function indexOver(table: string, columns: readonly string[], where: string | undefined): Index {
  const name = identifier(`${table}_by_${columns.join('_')}`);
  return { table, name, columns: ['org', ...columns, 'id'], ...(where !== undefined && { where }) };
}

/** Longest name that PostgreSQL does not cut. */
const MAX_IDENTIFIER_LENGTH = 63;

function identifier(name: string): string {
  if (name.length <= MAX_IDENTIFIER_LENGTH) return name;
  return `${name.slice(0, MAX_IDENTIFIER_LENGTH - 9)}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

function sideOf(resource: Resource, key: FilterKey): Side {
  const at = key.key.split('.');
  const form = key.value.name === 'digits' ? digitsOf : foldText;
  return {
    table: sideTable(resource, key.key),
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
const MAX_COLUMN_TEXT = 500;

/** The form of a text in columns: what is longer than any name keeps its beginning, and tells itself from others by a hash. */
export function columnText(text: string): string {
  if (text.length <= MAX_COLUMN_TEXT) return text;
  return text.slice(0, MAX_COLUMN_TEXT) + createHash('sha256').update(text).digest('hex');
}
