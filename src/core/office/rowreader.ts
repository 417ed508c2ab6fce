import { snakeCase } from '../mirror/names.ts';
import { NAME_KINDS, type NameKind } from '../names/namerows.ts';
import type { Column } from '../output/columns.ts';
import type { QueryValue } from '../query/result.ts';
import type { OfficeColumn, OfficeKind } from './report.ts';
import type { OfficeRow } from './result.ts';

/** Kinds as lists know them, which sort and show their values. */
const KINDS: Readonly<Record<OfficeKind, string>> = {
  id: 'id',
  text: 'text',
  date: 'date',
  instant: 'dateTime',
  cents: 'integer',
  count: 'integer',
  minutes: 'integer',
  boolean: 'boolean',
};

/** A column of a report for the writers and the order of rows, which are flat. */
export function rowColumn({ name, kind }: OfficeColumn): Column {
  return { name, path: [name], isId: kind === 'id', kind: KINDS[kind] };
}

/** Reads the rows of a statement: its columns by their names in SQL, names of locations and the like filled in. */
export class RowReader {
  private readonly at: readonly (readonly [column: OfficeColumn, index: number])[];
  private readonly named: readonly NameKind[];

  constructor(
    columns: readonly OfficeColumn[],
    names: readonly string[],
    private readonly nameOf: (kind: NameKind, id: string) => string | undefined,
  ) {
    this.named = NAME_KINDS.filter((kind) => columns.some(({ name }) => name === `${kind}.name`));
    const given = columns.filter(({ name }) => !this.named.some((kind) => name === `${kind}.name`));
    this.at = given.map((column) => {
      const index = names.indexOf(snakeCase(column.name));
      if (index < 0) throw new Error(`The statement has no column ${snakeCase(column.name)}.`);
      return [column, index];
    });
  }

  /** A row of the report; a truth value of SQLite becomes one. */
  read(values: readonly QueryValue[]): OfficeRow {
    const row = Object.fromEntries(
      this.at.map(([{ name, kind }, index]) => {
        const value = values[index] ?? null;
        return [name, kind === 'boolean' && value !== null ? Boolean(value) : value];
      }),
    );
    for (const kind of this.named) {
      const id = row[`${kind}.id`];
      row[`${kind}.name`] = (id === null || id === undefined ? undefined : this.nameOf(kind, String(id))) ?? null;
    }
    return row;
  }
}
