import { createHash } from 'node:crypto';
import { STORED_RESOURCES } from '../../../catalog/catalog.ts';
import type { Resource } from '../../../catalog/define.ts';
import { type Column, type Index, type Layout, layoutOf, type Side } from '../layout.ts';
import { MIGRATIONS } from '../migrations/steps.ts';

/**
 * The tables of resources as they follow from the catalog. `fingerprint` tells one schema from any other, and that of one
 * version from that of another with more migrations.
 */
export interface Schema {
  readonly layouts: readonly Layout[];
  readonly fingerprint: string;
}

/** What is recorded of a table once its rows have it all: the form of its rows, and the text of each index. */
export interface TableRecord {
  /** The column by which records are counted; null for counts of all alone, missing where none are kept. */
  readonly place?: string | null;
  readonly columns: readonly string[];
  readonly sides: readonly string[];
  readonly fields: readonly string[];
  readonly indexes: Readonly<Record<string, string>>;
}

/** The schema of resources. */
export function schemaOf(resources: readonly Resource[]): Schema {
  const layouts = resources.map(layoutOf);
  const tables = layouts.map((layout) => [tableText(layout), tableRecord(layout)]);
  const text = JSON.stringify([tables, MIGRATIONS.length]);
  return { layouts, fingerprint: createHash('sha256').update(text).digest('hex') };
}

/** The schema of this molar. */
export const SCHEMA = schemaOf(STORED_RESOURCES);

/** The record of a table whose rows are as its layout says. */
export function tableRecord({ columns, sides, fields, indexes, place }: Layout): TableRecord {
  return {
    columns: columns.map(({ name }) => name),
    sides: sides.map(({ table }) => table),
    fields,
    place: place?.name ?? null,
    indexes: Object.fromEntries(indexes.map((index) => [index.name, indexText(index)])),
  };
}

/** The form of a table's rows, as text: rows of another form are backfilled. */
export function rowForm({ columns, sides, fields }: Omit<TableRecord, 'indexes'>): string {
  return JSON.stringify([columns, sides, fields]);
}

/** A resource's table: its key is led by the organization; the wire JSON, which is long, comes last. */
export function tableText({ table, columns }: Layout): string {
  const own = columns.map(({ name, type, always }) => `${name} ${type}${always === undefined ? '' : ' NOT NULL'}, `);
  return `CREATE TABLE ${table} (org INTEGER NOT NULL, id INTEGER NOT NULL, ${own.join('')}json TEXT NOT NULL, PRIMARY KEY (org, id))`;
}

/** A table for a filter key of which a record may have several values. */
export function sideText({ table }: Side): string {
  return `CREATE TABLE ${table} (org INTEGER NOT NULL, value TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (org, value, id)) WITHOUT ROWID`;
}

/** Adds a column to a table with rows. One that no record lacks has a default, by which an older server can still insert. */
export function addColumnText(table: string, { name, type, always }: Column): string {
  const value = typeof always === 'string' ? `'${always}'` : always;
  return `ALTER TABLE ${table} ADD COLUMN ${name} ${type}${value === undefined ? '' : ` NOT NULL DEFAULT ${value}`}`;
}

/** An index. */
export function indexText({ name, table, columns, where, unique }: Index): string {
  const kind = unique === undefined ? 'INDEX' : 'UNIQUE INDEX';
  return `CREATE ${kind} ${name} ON ${table} (${columns.join(', ')})${where === undefined ? '' : ` WHERE ${where}`}`;
}
