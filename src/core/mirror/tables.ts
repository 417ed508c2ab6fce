import { STORED_RESOURCES } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import type { Field, Fields, Kind } from '../../catalog/fields/kind.ts';
import { emittedFields } from '../../catalog/record.ts';
import { entryName, singularOf, snakeCase, tableNameOf } from './names.ts';

/**
 * What a column holds (D52). `integer`: a whole number or an id, up to 2^63 - 1. `boolean`: 0 or 1. `cents`: whole
 * cents. `date`: `YYYY-MM-DD`. `instant`: `YYYY-MM-DDTHH:mm:ss.SSSZ`, UTC. `number`: of a field that the catalog does
 * not know. `json`: JSON text. `text`: all else, as sent.
 */
export type ColumnType = 'integer' | 'boolean' | 'cents' | 'date' | 'instant' | 'number' | 'json' | 'text';

/** One column of a table. */
export interface MirrorColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Where its value is in a record, or in an entry of a list; empty for the entry itself and for columns of our own. */
  readonly path: readonly string[];
  /** The wire name: `firstName`, `preferredLocation.id`; null for columns of our own. */
  readonly field: string | null;
  readonly about: string;
  /** The table that a link leads to, where it is mirrored. */
  readonly references?: string;
  /** Any link, whether or not what it leads to is mirrored. */
  readonly isLink?: boolean;
}

/** A list of a record, as a table of its own; its key is `parentKey` and `ordinal`, from 1. */
export interface ChildTable {
  readonly name: string;
  /** `patient_id`. */
  readonly parentKey: string;
  /** The field of the record that is the list, or the map. */
  readonly field: string;
  readonly columns: readonly MirrorColumn[];
  readonly about: string;
}

/** The table of a resource and its child tables, as the catalog declares them. */
export interface MirrorTable {
  readonly resource: Resource;
  readonly name: string;
  /** Of the fields of the catalog, in its order; the first is `id`. */
  readonly columns: readonly MirrorColumn[];
  readonly children: readonly ChildTable[];
  /** Its rows hold what a de-identified copy keeps, and no record as it came. */
  readonly isDeidentified?: true;
}

/** Signed links change at every read: they have neither a column nor a place in `_record` (D52). */
export const UNMIRRORED_FIELDS: readonly string[] = ['storage'];

/** The column of an instant of our own at the end of each row: when the row was last written. */
export const SYNCED_AT = '_synced_at';

/** The column with the record as it came, JSON without `UNMIRRORED_FIELDS`. */
export const RECORD = '_record';

/** Columns at the end of those that the catalog declares; columns of unknown fields come after them. */
export const OWN_COLUMNS: readonly MirrorColumn[] = [
  { name: SYNCED_AT, type: 'instant', path: [], field: null, about: 'When this row was last written' },
  { name: RECORD, type: 'json', path: [], field: null, about: 'The record as it came' },
];

const TYPES: Readonly<Record<string, ColumnType>> = {
  id: 'integer',
  integer: 'integer',
  number: 'number',
  dollars: 'cents',
  yesNo: 'boolean',
  date: 'date',
  dateTime: 'instant',
};

/** Every table, in the order of the catalog. */
export const MIRROR_TABLES: readonly MirrorTable[] = STORED_RESOURCES.map(tableOf);

/** The table of a resource by the name of either. */
export function findTable(name: string): MirrorTable | undefined {
  return MIRROR_TABLES.find((table) => table.resource.name === name || table.name === name);
}

function tableOf(resource: Resource): MirrorTable {
  const names = emittedFields(resource.fields).filter((name) => !UNMIRRORED_FIELDS.includes(name));
  const fields = names.map((name) => [name, resource.fields[name] as Field] as const);
  const isList = ({ kind }: Field) => kind.name === 'list' || kind.name === 'map';
  return {
    resource,
    name: tableNameOf(resource),
    columns: fields.filter(([, field]) => !isList(field)).flatMap(([name, field]) => columnsOf(name, field)),
    children: fields.filter(([, field]) => isList(field)).map(([name, field]) => childOf(resource, name, field)),
  };
}

/** The columns of a field: one, or one for each part of an object. */
function columnsOf(name: string, { kind, about }: Field, at: readonly string[] = []): MirrorColumn[] {
  const path = [...at, name];
  if (kind.fields !== undefined) return partsOf(kind.fields, (part, field) => columnsOf(part, field, path), about);
  return [columnOf(path, kind, about)];
}

function partsOf(
  fields: Fields,
  columns: (name: string, field: Field) => MirrorColumn[],
  about: string,
): MirrorColumn[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    columns(name, { ...field, about: about === '' ? field.about : `${about}: ${field.about.toLowerCase()}` }),
  );
}

function columnOf(path: readonly string[], kind: Kind, about: string): MirrorColumn {
  const isLink = kind.parts?.includes('id') === true;
  const whole = isLink ? [...path, 'id'] : path;
  const type = kind.name === 'link' ? 'integer' : (TYPES[kind.name] ?? 'text');
  const name = whole.map(snakeCase).join('_');
  return {
    name: type === 'cents' ? `${name}_cents` : name,
    type,
    path: whole,
    field: whole.join('.'),
    about,
    ...(isLink && { isLink }),
    ...linked(kind.target),
  };
}

function linked(target: string | undefined): Pick<MirrorColumn, 'references'> {
  const resource = STORED_RESOURCES.find(({ type }) => type === target);
  return resource === undefined ? {} : { references: tableNameOf(resource) };
}

function childOf(resource: Resource, field: string, { kind, about }: Field): ChildTable {
  const singular = singularOf(resource.type);
  const item = kind.item as Kind;
  const entry = entryName(field);
  const key: MirrorColumn = { name: 'key', type: 'text', path: [], field: `${field} key`, about: 'Order index' };
  return {
    name: `${singular}_${snakeCase(field)}`,
    parentKey: `${singular}_id`,
    field,
    about,
    columns:
      kind.name === 'map'
        ? // The maps of the service are all of links (D24), and the target tells more than the name of the field.
          [key, ...entryColumns(item, singularOf(item.target as string), field)]
        : entryColumns(item, entry, field),
  };
}

/** The columns of an entry: its fields, the id of a link, or its value. */
function entryColumns(item: Kind, entry: string, field: string): MirrorColumn[] {
  if (item.fields !== undefined) {
    const columns = partsOf(item.fields, (name, part) => columnsOf(name, part), '');
    return columns.map((column) => ({
      ...column,
      field: `${field}.${column.field}`,
      ...(column.name === 'id' && { name: `${entry}_id` }),
    }));
  }
  const { about, ...column } = columnOf([], item, `One of ${field}`);
  const isLink = column.isLink === true;
  return [{ ...column, about, name: isLink ? `${entry}_id` : entry, field: isLink ? `${field}.id` : field }];
}
