import sql, { raw } from 'sql-template-tag';
import type { Index, Layout } from '../layout.ts';
import type { Dialect } from '../migrations/dialects.ts';
import { runText } from '../migrations/migrate.ts';
import type { Transaction } from '../store.ts';
import { refuseDuplicates, within } from './faults.ts';
import { readSchema } from './introspection.ts';
import { indexText, type Schema, tableRecord } from './schema.ts';
import { readTableRecord, writeTableRecord } from './state.ts';

/** What is to be done with the indexes of a table, and whether its records have to be counted. */
export interface IndexPlan {
  readonly layout: Layout;
  /** Declared no longer, or otherwise now. */
  readonly undeclared: readonly string[];
  readonly missing: readonly Index[];
  readonly uncounted: boolean;
  /** The table has no rows: nothing that is done with it takes long. */
  readonly isEmpty: boolean;
}

/** Compares the indexes of a database with those that are declared. */
export async function indexPlans(tx: Transaction, schema: Schema, dialect: Dialect): Promise<IndexPlan[]> {
  const { indexes } = await readSchema(tx, dialect);
  const plans: IndexPlan[] = [];
  for (const layout of schema.layouts) {
    const record = await readTableRecord(tx, layout.table);
    // Before there were records, no other index had a name that begins like this.
    const made =
      record === undefined
        ? indexes.filter((name) => name.startsWith(`${layout.table}_by_`))
        : Object.keys(record.indexes);
    const isKept = (index: Index) => {
      const text = indexText(index);
      return indexes.includes(index.name) && (record?.indexes[index.name] ?? text) === text;
    };
    const kept = new Set(layout.indexes.filter(isKept).map(({ name }) => name));
    const row = await tx.get(sql`SELECT 1 AS found FROM ${raw(layout.table)} LIMIT 1`);
    plans.push({
      layout,
      isEmpty: row === undefined,
      undeclared: made.filter((name) => !kept.has(name)),
      missing: layout.indexes.filter(({ name }) => !kept.has(name)),
      uncounted: record?.place !== tableRecord(layout).place,
    });
  }
  return plans;
}

/** Drops and builds what a plan says. Throws `StoreUnusable` where records do not allow a unique index. */
export async function settleIndexes(
  tx: Transaction,
  { undeclared, missing }: IndexPlan,
  dialect: Dialect,
): Promise<void> {
  for (const name of undeclared) await runText(tx, `DROP INDEX IF EXISTS ${name}`, dialect);
  for (const index of missing) {
    await refuseDuplicates(tx, index);
    await within(`build the index ${index.name}`, () => runText(tx, indexText(index), dialect));
  }
}

/** Whether an index of this name, and of another text than is declared now, is recorded. */
export async function hasOtherText(tx: Transaction, { table }: Layout, index: Index): Promise<boolean> {
  const text = (await readTableRecord(tx, table))?.indexes[index.name];
  return text !== undefined && text !== indexText(index);
}

/** Records, once the one that had its name is dropped, that an index has the text that is declared now. */
export async function noteIndex(tx: Transaction, { table }: Layout, index: Index): Promise<void> {
  const record = await readTableRecord(tx, table);
  if (record === undefined) return;
  await writeTableRecord(tx, table, { ...record, indexes: { ...record.indexes, [index.name]: indexText(index) } });
}
