import type { Layout } from '../layout.ts';
import type { Reader } from '../store.ts';
import { indexText, type Schema, type TableRecord, tableRecord } from './schema.ts';
import { readTableRecords } from './state.ts';

/**
 * Whether servers of the schema that a database has can go on beside servers of a new one: all that they use is there and
 * is kept up to date, what is added follows from the records that they write, and nothing that they write is refused.
 */
export async function suitsOlder(read: Reader, { layouts }: Schema): Promise<boolean> {
  const records = await readTableRecords(read);
  const known = new Map(layouts.map((layout) => [layout.table, layout]));
  return (
    records.size > 0 &&
    [...records].every(([table, record]) => {
      const layout = known.get(table);
      return layout !== undefined && isAddition(record, layout);
    })
  );
}

function isAddition(before: TableRecord, layout: Layout): boolean {
  const after = tableRecord(layout);
  const isKept = (part: 'columns' | 'sides' | 'fields') => before[part].every((name) => after[part].includes(name));
  const had = new Set(before.columns);
  const added = layout.columns.filter(({ name }) => !had.has(name));
  const unique = layout.indexes.filter((index) => index.unique !== undefined);
  return (
    before.place === after.place &&
    isKept('columns') &&
    isKept('sides') &&
    isKept('fields') &&
    added.every(({ of }) => of !== undefined) &&
    unique.every((index) => before.indexes[index.name] === indexText(index))
  );
}
