import sql, { raw } from 'sql-template-tag';
import type { Dialect } from '../../store/migrations/dialects.ts';
import { type DatabaseSchema, readSchema, type Table } from '../../store/schema/introspection.ts';
import { type Store, StoreUnusable } from '../../store/store.ts';
import type { Snapshot } from '../snapshot.ts';
import { contentTables } from '../tables.ts';
import { turn, type Work } from '../work.ts';
import { readCounters, writeCounters } from './counters.ts';
import { digestOf, insertRows, keyOf, pagesOf } from './rows.ts';
import { beginCopy, endCopy, identityOf, readTableState, STATE_TABLE, writeTableState } from './state.ts';

/** A store to copy into, and what it is called in messages. */
export interface Target {
  readonly store: Store;
  readonly dialect: Dialect;
  readonly name: string;
}

/** Rows of each table, as both sides have them. */
export type TableCounts = Readonly<Record<string, number>>;

/**
 * Copies all content into an empty store, page by page; an interrupted copy is resumed. At the end
 * both sides are read and compared, table by table. `completeCopy` is what follows. Throws `StoreUnusable`.
 */
export async function copyDatabase(source: Snapshot, target: Target, work: Work): Promise<TableCounts> {
  const from = await readSchema(source.read, source.dialect);
  const to = await readSchema(target.store.read, target.dialect);
  const tables = sameTables(from, to, target.name);
  await target.store.write(async (tx) => beginCopy(tx, to, await identityOf(source.read), target.name));
  for (const table of tables) await copyTable(source, target.store, table, work);
  const counters = await readCounters(source.read, source.dialect, tables);
  await target.store.write((tx) => writeCounters(tx, target.dialect, tables, counters));
  return compare(source, target, tables, work);
}

/** Marks the copy in the target as complete: until then no server starts on it, and another run resumes it. */
export function completeCopy({ store }: Target): Promise<void> {
  return store.write(endCopy);
}

/** The tables of both sides. Only what was made by the same migrations can be copied. */
function sameTables(from: DatabaseSchema, to: DatabaseSchema, name: string): readonly Table[] {
  if (from.version !== to.version) {
    throw new StoreUnusable(
      `The source has schema ${from.version}, ${name} has ${to.version}.`,
      'Start and stop molar serve on the source once, which brings it to this version.',
    );
  }
  if (from.fingerprint !== to.fingerprint) {
    throw new StoreUnusable(
      `The source is of another version of molar than ${name}.`,
      'Start and stop molar serve on the source once, which brings it to this version; if it says that the data is newer, update molar.',
    );
  }
  const own = { ...to, tables: to.tables.filter((table) => table.name !== STATE_TABLE) };
  const tables = contentTables(from);
  if (shapeOf(tables) !== shapeOf(contentTables(own))) {
    throw new StoreUnusable(
      `The tables of the source are not those of ${name}.`,
      'Run molar server check on both: tables of others may stand among them.',
    );
  }
  return tables;
}

function shapeOf(tables: readonly Table[]): string {
  const shapes = tables.map(({ name, columns, key }) => `${name}(${[...columns].sort()}; ${key})`);
  return shapes.sort().join('\n');
}

async function copyTable(source: Snapshot, store: Store, table: Table, work: Work): Promise<void> {
  const state = await readTableState(store.read, table.name);
  if (state.done) return;
  for await (const page of pagesOf(source.read, table, state.after ?? undefined)) {
    const last = page.at(-1);
    // Rows and how far they go are committed together: whatever happens in between, none is copied twice.
    await store.write(async (tx) => {
      await insertRows(tx, table, page);
      await writeTableState(tx, table.name, { after: last === undefined ? null : keyOf(table, last), done: false });
    });
    await turn(work, `Copying ${table.name}`, page.length);
  }
  await store.write((tx) => writeTableState(tx, table.name, { after: null, done: true }));
}

async function compare(source: Snapshot, target: Target, tables: readonly Table[], work: Work): Promise<TableCounts> {
  const counts: Record<string, number> = {};
  for (const table of tables) {
    const there = await digestOf(source.read, table, work);
    const here = await digestOf(target.store.read, table, work);
    if (there.hash !== here.hash) {
      throw new StoreUnusable(
        `The copy in ${target.name} is not the source: ${table.name} has ${here.rows} rows, the source ${there.rows}, and they differ.`,
        'The source has changed since the copy was begun: empty the target and begin again, with no server on the source.',
      );
    }
    counts[table.name] = there.rows;
  }
  return counts;
}

/** Rows of each table of content. */
export async function countTables(snapshot: Snapshot): Promise<TableCounts> {
  const counts: Record<string, number> = {};
  for (const { name } of contentTables(await readSchema(snapshot.read, snapshot.dialect))) {
    const row = await snapshot.read.get<{ rows: number }>(sql`SELECT COUNT(*) AS rows FROM ${raw(name)}`);
    counts[name] = row?.rows ?? 0;
  }
  return counts;
}
