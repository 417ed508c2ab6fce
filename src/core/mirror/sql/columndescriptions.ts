import type { ColumnType, MirrorColumn } from '../tables.ts';
import type { Dialect, Target } from './database.ts';

/** A row of `_columns`. */
export type Described = readonly (string | null)[];

/** The columns of `_columns`. */
export const DESCRIPTION: readonly Target[] = ['table_name', 'column_name', 'type', 'unit', 'field', 'about'].map(
  (name) => {
    return { name, type: 'text' };
  },
);

const NO_FIELD = { path: [], field: null } as const;
/** The column of the place of an entry. */
export const ORDINAL: MirrorColumn = {
  ...NO_FIELD,
  name: 'ordinal',
  type: 'integer',
  about: 'Place in the list, from 1',
};

/** The column of tombstones that says since when. */
export const DELETED_AT: MirrorColumn = {
  ...{ ...NO_FIELD, name: '_deleted_at', type: 'instant' },
  about: 'When it was deleted, or when it was missed',
};

/** A row of `_columns` for a field that the catalog does not know. */
export interface Learned {
  readonly column_name: string;
  readonly type: string;
  readonly unit: string | null;
  readonly field: string;
  readonly about: string;
}

/** The type of a column of an unknown field by what `_columns` says of it. */
export function learnedType({ type, unit }: Learned, { types }: Dialect): ColumnType {
  if (type === types.number) return 'number';
  if (type === types.boolean) return 'boolean';
  return unit === UNITS.json ? 'json' : 'text';
}

const UNITS: Readonly<Partial<Record<ColumnType, string>>> = { cents: 'cents', instant: 'UTC', json: 'JSON' };

/** What `_columns` has for the unit of a type; null where it has none. */
export function unitOf(type: ColumnType): string | null {
  return UNITS[type] ?? null;
}
