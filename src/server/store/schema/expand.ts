import sql, { raw } from 'sql-template-tag';
import { isAbove, molarVersion } from '../../version.ts';
import type { Layout } from '../layout.ts';
import type { Dialect } from '../migrations/dialects.ts';
import { migrate, migrationsOf, runText } from '../migrations/migrate.ts';
import { PHASES } from '../migrations/phases.ts';
import { MIGRATIONS } from '../migrations/steps.ts';
import { StoreUnusable, type Transaction } from '../store.ts';
import { suitsOlder } from './additive.ts';
import { QUIET_MS } from './contract.ts';
import { requireOwner, within } from './faults.ts';
import { type DatabaseSchema, readSchema } from './introspection.ts';
import { limitWaiting, lockOrganizations } from './locks.ts';
import { readLogHeads } from './logheads.ts';
import { notedTables, noteRepairs } from './repairs.ts';
import { addColumnText, indexText, rowForm, sideText, tableRecord, tableText } from './schema.ts';
import { databaseNow } from './servers.ts';
import * as state from './state.ts';
import type { Upgrade } from './upgradework.ts';

/** Since this migration every process that has a database of PostgreSQL open says so. */
const REGISTERED = MIGRATIONS.indexOf(PHASES) + 1;

/** `served`: this process is of an earlier schema, and may go on with that of a newer one. */
export type Found = 'complete' | 'served' | 'pending';

/** The first phase of an upgrade: adds what tables lack, and notes which rows are to be backfilled. */
export async function begin(tx: Transaction, work: Upgrade): Promise<Found> {
  const { dialect, schema } = work;
  if (dialect === 'postgres' && (await state.isServed(tx, schema.fingerprint, dialect))) {
    await work.completed?.(tx);
    return 'served';
  }
  const version = await migrationsOf(tx, dialect);
  if (version > 0 && dialect === 'postgres') await limitWaiting(tx);
  if (version < MIGRATIONS.length) {
    await requireOwner(tx, dialect);
    await within('make the tables', () => migrate(tx, version, dialect), 'create');
  }
  const before = await state.readFingerprint(tx);
  if (before === schema.fingerprint) {
    await work.completed?.(tx);
    return 'complete';
  }
  await refuseNewer(tx);
  await requireOwner(tx, dialect);
  await lockOrganizations(tx, dialect);
  if (version > 0) await noteOlder(tx, work, version, before);
  await state.writeFingerprint(tx, undefined);
  await state.writeGoal(tx, schema.fingerprint);
  const found = await readSchema(tx, dialect);
  // Rows that were written since by servers of before there were notes are behind it.
  const noted = dialect === 'postgres' && version < REGISTERED ? new Map() : await state.readBackfills(tx);
  await state.deleteBackfills(tx);
  const backfills: state.Backfill[] = [];
  const watched = new Set(dialect === 'postgres' ? await notedTables(tx) : []);
  for (const layout of schema.layouts) {
    const isNew = found.tables.every(({ name }) => name !== layout.table);
    const added = await addMissing(tx, layout, found, dialect);
    const isChanged = added || !(await hasForm(tx, layout));
    if (dialect === 'postgres' && !isNew && (isChanged || watched.has(layout.table))) {
      await noteRepairs(tx, layout.table, schema);
    }
    const backfill = await backfillOf(tx, layout, noted.get(layout.table), added);
    if (backfill !== undefined) backfills.push(backfill);
  }
  for (const backfill of backfills) await state.writeBackfill(tx, backfill);
  // A resumed pass began with the heads that are noted already: what was written since is behind it.
  if (backfills.every(({ done }) => done === 0)) await state.writeNotedHeads(tx, await readLogHeads(tx));
  return 'pending';
}

/** Says which older servers may go on, and what is left to do when they are gone. */
async function noteOlder(tx: Transaction, work: Upgrade, version: number, before: string | undefined): Promise<void> {
  const suits = MIGRATIONS.slice(version).every(({ isAdditive }) => isAdditive) && (await suitsOlder(tx, work.schema));
  if (!suits) await state.deleteServed(tx);
  else if (before !== undefined) await state.writeServed(tx, before);
  const left = await state.readUnfinished(tx);
  const unregistered = work.dialect === 'postgres' && version < REGISTERED;
  await state.writeUnfinished(tx, {
    notBefore: unregistered ? (await databaseNow(tx)) + (work.quietMs ?? QUIET_MS) : (left?.notBefore ?? 0),
    indexes: left?.indexes ?? [],
  });
}

async function refuseNewer(tx: Transaction): Promise<void> {
  const [theirs, own] = [await state.readMolarVersion(tx), molarVersion()];
  if (theirs === undefined || !isAbove(theirs, own)) return;
  throw new StoreUnusable(
    `The data was written by a newer molar (${theirs}; this one is ${own}).`,
    'Update molar, or use another data folder.',
  );
}

/** Adds a table, or the columns and side tables that it lacks; true when rows have to be brought to them. */
async function addMissing(tx: Transaction, layout: Layout, found: DatabaseSchema, dialect: Dialect): Promise<boolean> {
  const { table, columns, sides, indexes } = layout;
  const there = found.tables.find(({ name }) => name === table);
  const missing = there === undefined ? [] : columns.filter(({ name }) => !there.columns.includes(name));
  const missingSides = sides.filter((side) => found.tables.every(({ name }) => name !== side.table));
  const written = new Set(['json', ...columns.map(({ name }) => name)]);
  const texts = [
    ...(there === undefined ? [tableText(layout)] : []),
    ...missing.map((column) => addColumnText(table, column)),
    ...missingSides.map(sideText),
    // By which a backfill compares what a record has.
    ...indexes.filter((index) => missingSides.some((side) => side.table === index.table)).map(indexText),
    // What an earlier molar wrote and this one does not must not be in the way of its inserts.
    ...(there?.needed ?? [])
      .filter((name) => !written.has(name))
      .map((name) => `ALTER TABLE ${table} ALTER COLUMN ${name} DROP NOT NULL`),
  ];
  for (const text of texts) {
    const [verb, right] = text.startsWith('CREATE TABLE')
      ? (['make', 'create'] as const)
      : (['change', 'owner'] as const);
    await within(`${verb} the table ${table}`, () => runText(tx, text, dialect), right);
  }
  return missing.length + missingSides.length > 0;
}

/** Whether the rows of a table are known to have the form of its layout. */
async function hasForm(tx: Transaction, layout: Layout): Promise<boolean> {
  const record = await state.readTableRecord(tx, layout.table);
  return record !== undefined && rowForm(record) === rowForm(tableRecord(layout));
}

/** The backfill that a table needs: the one that was interrupted where its goal is still the same, or one from the start. */
async function backfillOf(
  tx: Transaction,
  layout: Layout,
  interrupted: state.Backfill | undefined,
  added: boolean,
): Promise<state.Backfill | undefined> {
  const { table } = layout;
  const goal = rowForm(tableRecord(layout));
  if (!added && interrupted?.goal === goal) return interrupted;
  if (!added && interrupted === undefined && (await hasForm(tx, layout))) return undefined;
  const row = await tx.get(sql`SELECT 1 AS found FROM ${raw(table)} LIMIT 1`);
  return row === undefined ? undefined : { table_name: table, goal, org: 0, id: 0, done: 0, total: 0 };
}
