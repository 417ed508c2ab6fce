import type { Fields, Kind } from '../../catalog/fields/kind.ts';
import { emittedFields } from '../../catalog/record.ts';
import type { Row } from '../pages/page.ts';

/** One column: its header, and the path of its value in a record. */
export interface Column {
  /** `lastName`, or `preferredLocation.id` for a part of a linked record. */
  readonly name: string;
  readonly path: readonly string[];
  /** Identifies a record, so a table never truncates it. */
  readonly isId: boolean;
  /** A date or a number: truncated, it would be another one. */
  readonly isWhole?: boolean;
  /** Name of its kind of value, where the catalog has one. */
  readonly kind?: string;
  /** Its kind, where that is a list, a map or an object. */
  readonly composite?: Kind;
}

const WHOLE_KINDS = new Set(['date', 'dateTime', 'integer', 'number', 'dollars']);

/**
 * Columns of a table or CSV (contract §2): the names selected, in that order, or all fields in the catalog's order.
 * A linked record becomes its parts (`preferredLocation.id`). Names must be known ones (`readFieldSelection`).
 */
export function columnsOf(fields: Fields, selection?: readonly string[]): Column[] {
  const names = selection ?? emittedFields(fields);
  const columns = names.flatMap((name) => columnsOfName(name, fields));
  return [...new Map(columns.map((column) => [column.name, column])).values()];
}

function columnsOfName(name: string, fields: Fields): Column[] {
  const parts = Object.hasOwn(fields, name) ? (fields[name]?.kind.parts ?? []) : [];
  const paths = parts.length > 0 ? parts.map((part) => [name, part]) : [name.split('.')];
  return paths.map((path) => {
    const isId = path.at(-1) === 'id';
    const isWhole = WHOLE_KINDS.has(fields[path.join('.')]?.kind.name ?? '');
    const kind = kindAt(fields, path);
    return {
      ...{ name: path.join('.'), path, isId },
      ...(isWhole && { isWhole }),
      ...(kind && { kind: kind.name }),
      ...((kind?.item ?? kind?.fields) && { composite: kind }),
    };
  });
}

function kindAt(fields: Fields, [name = '', part]: readonly string[]): Kind | undefined {
  const kind = Object.hasOwn(fields, name) ? fields[name]?.kind : undefined;
  return part === undefined ? kind : kind?.fields?.[part]?.kind;
}

/** Names as a user selects them (`--fields a,b.id`): trimmed, each once; undefined for none and for `ALL`. */
export function selectedNames(text: string | undefined): string[] | undefined {
  const names = (text ?? '').split(',').map((name) => name.trim());
  const selected = [...new Set(names.filter((name) => name !== ''))];
  return selected.length === 0 || selected.includes('ALL') ? undefined : selected;
}

/** The value a column shows, undefined where the record has none. */
export function valueAt(row: Row, column: Column): unknown {
  let value: unknown = row;
  for (const name of column.path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Row)[name];
  }
  return value;
}

/** A value as text of one cell: nothing for null, JSON for arrays and objects. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A record with only the selected names, in their order; `preferredLocation.id` keeps that part of the link. */
export function project(row: Row, selection: readonly string[] | undefined): Row {
  if (selection === undefined) return row;
  const result: Record<string, unknown> = {};
  for (const name of selection) {
    const [field = name, part] = name.split('.');
    const value = row[field] ?? null;
    if (part === undefined || typeof value !== 'object' || value === null) result[field] = value;
    else if (!Object.hasOwn(result, field)) result[field] = { [part]: (value as Row)[part] };
  }
  return result;
}
