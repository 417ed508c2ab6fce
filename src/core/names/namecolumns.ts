import type { Fields } from '../../catalog/fields/kind.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import type { Column } from '../output/columns.ts';
import type { Row } from '../pages/page.ts';
import { NAME_KINDS, type NameKind } from './namerows.ts';
import type { Names } from './namesfile.ts';

/** The kind of what a field links to, where it has names. */
export function linkedKind(field: string, fields: Fields): NameKind | undefined {
  const target = Object.hasOwn(fields, field) ? fields[field]?.kind.target?.toLowerCase() : undefined;
  return NAME_KINDS.find((kind) => kind === target);
}

/** The field that tells at which location a record is. */
export function locationField(fields: Fields): string | undefined {
  return Object.keys(fields).find((field) => linkedKind(field, fields) === 'location');
}

/** The id of a link of a record, as decimal text. */
export function linkedId(record: Row, field: string): string | undefined {
  const link = record[field];
  return isPlainObject(link) && link.id !== null && link.id !== undefined ? String(link.id) : undefined;
}

/** Columns with the name right after the id of what has names, `location.name`, and the records with the names. */
export interface NamedRows {
  readonly columns: readonly Column[];
  readonly add: (record: Row) => Row;
}

/** Columns and records with names; undefined where the names file has none for them. */
export function withNames(columns: readonly Column[], fields: Fields, names: Names): NamedRows | undefined {
  const links = new Map<string, NameKind>();
  const named = columns.flatMap((column) => {
    const [field = '', part] = column.path;
    const kind = part === 'id' ? linkedKind(field, fields) : undefined;
    if (kind === undefined || !names.names(kind).length) return [column];
    links.set(field, kind);
    return [column, { name: `${field}.name`, path: [field, 'name'], isId: false }];
  });
  if (links.size === 0) return undefined;
  const add = (record: Row) => {
    const found = [...links].flatMap(([field, kind]) => {
      const id = linkedId(record, field);
      const name = id === undefined ? undefined : names.nameOf(kind, id);
      return name === undefined ? [] : [[field, { ...(record[field] as Row), name }] as const];
    });
    return { ...record, ...Object.fromEntries(found) };
  };
  return { columns: named, add };
}
