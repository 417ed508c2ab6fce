import { emittedFields } from '../../catalog/record.ts';
import type { RecordRows } from './rows.ts';
import type { ChildTable, MirrorColumn, MirrorTable } from './tables.ts';
import type { StoredValue } from './values.ts';

/** The rows of a record as they stand in the tables: whole numbers may be a bigint. */
export type StandingRows = Pick<RecordRows, 'values' | 'children'>;

/**
 * The record that rows are of, JSON, where `_record` does not have it (D52): the fields of the table in the order of the
 * catalog, null where nothing was kept.
 */
export function rebuiltRecord(table: MirrorTable, { values, children }: StandingRows): string {
  const members = emittedFields(table.resource.fields).flatMap((name) => {
    const parts = table.columns.flatMap((column, index) => {
      return column.path[0] === name ? [{ column, path: column.path, value: values[index] ?? null }] : [];
    });
    const list = table.children.findIndex(({ field }) => field === name);
    const child = table.children[list];
    if (child !== undefined) return [[name, listText(table, child, children[list] ?? [])] as const];
    return parts.length === 0 ? [] : [[name, partsText(inside(parts))] as const];
  });
  return objectOf(members);
}

/** A value, and where it is below what holds it. */
interface Part {
  readonly column: MirrorColumn;
  readonly path: readonly string[];
  readonly value: StoredValue;
}

/** A value, or an object of parts; null where none of them is there. */
function partsText(parts: readonly Part[]): string {
  const [first] = parts;
  if (first !== undefined && first.path.length === 0) return literal(first.column, first.value);
  if (parts.every(({ value }) => value === null)) return 'null';
  const names = [...new Set(parts.map(({ path }) => path[0] ?? ''))];
  return objectOf(names.map((name) => [name, partsText(inside(parts.filter(({ path }) => path[0] === name)))]));
}

function inside(parts: readonly Part[]): Part[] {
  return parts.map((part) => ({ ...part, path: part.path.slice(1) }));
}

function listText(
  { resource }: MirrorTable,
  { field, columns }: ChildTable,
  entries: StandingRows['children'][number],
) {
  const kind = resource.fields[field]?.kind;
  const isMap = kind?.name === 'map';
  if (entries.length === 0) return JSON.stringify(kind?.empty ?? null);
  const texts = entries.map((values) => {
    const parts = columns.map((column, index) => ({ column, path: column.path, value: values[index] ?? null }));
    return partsText(isMap ? parts.filter(({ column }) => column.name !== 'key') : parts);
  });
  const keyAt = columns.findIndex(({ name }) => name === 'key');
  return isMap ? objectOf(texts.map((text, index) => [String(entries[index]?.[keyAt]), text])) : `[${texts.join(',')}]`;
}

function objectOf(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}

/** A value of a column in JSON, every digit of it. */
function literal({ type }: MirrorColumn, value: StoredValue): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(value);
  if (type === 'boolean') return String(Number(value) !== 0);
  return type === 'cents' ? dollars(BigInt(value)) : String(value);
}

function dollars(cents: bigint): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  const text = `${digits.slice(0, -2)}.${digits.slice(-2)}`.replace(/\.?0+$/, '');
  return cents < 0n ? `-${text}` : text;
}
