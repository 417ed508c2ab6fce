import { MIRROR_TABLES } from '../tables.ts';

/** A column as `_columns` has it. */
export interface DescribedColumn {
  readonly name: string;
  readonly type: string;
  readonly unit: string | null;
  readonly about: string;
  /** The table whose `id` it holds. */
  readonly references: string | undefined;
}

/** What a table is: of a resource, of one of its lists, of deleted records or of versions; or a view. */
export type TableKind = 'resource' | 'list' | 'deleted' | 'history' | 'view';

/** A table, or a view, and its columns. */
export interface DescribedTable {
  readonly name: string;
  readonly kind: TableKind;
  readonly about: string;
  readonly columns: readonly DescribedColumn[];
}

/** The tables and views that rows of `_columns` are about, in their order. */
export function describedTables(rows: readonly Readonly<Record<string, string | null>>[]): DescribedTable[] {
  const names = [...new Set(rows.map(({ table_name }) => table_name ?? ''))];
  return names.map((name) => {
    const columns = rows.filter(({ table_name }) => table_name === name).map(columnOf);
    const { kind, about } = placeOf(name);
    // Of a view every column says what the view is.
    if (kind === 'view') return { name, kind, about: columns[0]?.about ?? '', columns: columns.map(withoutAbout) };
    return { name, kind, about, columns };
  });
}

function columnOf(row: Readonly<Record<string, string | null>>): DescribedColumn {
  const [about = '', references] = (row.about ?? '').split('; references ');
  const { column_name: name, type, unit = null } = row;
  return { name: name ?? '', type: type ?? '', unit, about, references: references?.replace(/\.id$/, '') };
}

function withoutAbout(column: DescribedColumn): DescribedColumn {
  return { ...column, about: '' };
}

function placeOf(name: string): Pick<DescribedTable, 'kind' | 'about'> {
  for (const { name: own, resource, children } of MIRROR_TABLES) {
    if (name === own) return { kind: 'resource', about: resource.about };
    if (name === `${own}_deleted`) return { kind: 'deleted', about: `Deleted ${resource.many}, as last seen` };
    if (name === `${own}_history`) return { kind: 'history', about: `Every version of ${resource.many}` };
    const child = children.find((each) => each.name === name);
    if (child !== undefined) return { kind: 'list', about: `${child.about} of ${resource.many}` };
  }
  return { kind: 'view', about: '' };
}

/** What a column is, with its unit, as a sentence or two; empty where nobody says. */
export function columnText({ about, unit }: DescribedColumn): string {
  const unitText = unit === null ? '' : unit === 'cents' ? 'In cents' : unit;
  return [about, unitText].filter((part) => part !== '').join('. ');
}
