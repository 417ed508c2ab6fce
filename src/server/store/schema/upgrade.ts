import { hash } from 'node:crypto';
import sql, { raw } from 'sql-template-tag';
import { isAbove, molarVersion } from '../../version.ts';
import { recount } from '../counts.ts';
import type { Layout } from '../layout.ts';
import type { Dialect } from '../migrations/dialects.ts';
import { migrate, migrationsOf, runText } from '../migrations/migrate.ts';
import { MIGRATIONS } from '../migrations/steps.ts';
import { StoreUnusable, type Transaction } from '../store.ts';
import { backfillPage } from './backfill.ts';
import { requireOwner, within } from './faults.ts';
import { indexPlans, settleIndexes } from './indexes.ts';
import { type DatabaseSchema, readSchema } from './introspection.ts';
import { addColumnText, indexText, rowForm, type Schema, sideText, tableRecord, tableText } from './schema.ts';
import * as state from './state.ts';

/** How far a backfill has come: rows done of all rows of a table. */
export interface BackfillProgress {
  readonly table: string;
  readonly done: number;
  readonly rows: number;
}

/** How a store is brought to a schema when it is opened. */
export interface UpgradeOptions {
  /** Called every few seconds of a backfill. */
  readonly progress?: ((progress: BackfillProgress) => void) | undefined;
  /** `SCHEMA` when not given. */
  readonly schema?: Schema;
  /** Rows of one transaction of a backfill; 1000 when not given. */
  readonly pageRows?: number;
}

/** What brings a store to a schema. */
export interface Upgrade extends UpgradeOptions {
  readonly dialect: Dialect;
  readonly schema: Schema;
  /** Runs a work in a transaction of its own, with no time limit; again after a conflict with another server. */
  transact<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Called in the transaction in which the schema is found, or made, complete. */
  readonly completed?: () => void;
}

/** Milliseconds between two calls of `progress`. */
const PROGRESS_MS = 3000;

/** Passes over the rows during which other servers may write; the one after them keeps them waiting. */
const FREE_PASSES = 3;

/**
 * Brings a store to this version: hand-written migrations first, then the tables of resources to what follows from the
 * catalog. Where they follow it already that is one read. Otherwise tables and columns are added, rows are brought to their
 * form in pages, each in a transaction that also notes how far it got, and indexes are built. An upgrade that was
 * interrupted, at whatever point, is resumed by the next start; servers that start together share the pages.
 *
 * An older server may go on writing to the same PostgreSQL meanwhile: what is added to its tables is nullable or has a
 * default. What it writes before the end is backfilled, since the passes start over when a log has grown (every change adds
 * to the audit log, those of resources that are not published too), and the transaction that ends them holds the heads of
 * the logs, without which nobody can commit a change. What it writes after the end lacks the new columns and fields: it is
 * not ready from then on (`Store.ping`) and should get no more requests.
 * Throws `StoreUnusable`.
 */
export async function upgrade(work: Upgrade): Promise<void> {
  const pending = await within('bring the tables to this version', () => work.transact((tx) => begin(tx, work)));
  if (!pending) return;
  for (let pass = 1; ; pass++) {
    for (const layout of work.schema.layouts) await backfill(work, layout);
    if (await within('complete the tables', () => work.transact((tx) => finish(tx, work, pass)))) return;
  }
}

/** Adds what tables lack, and notes which rows are to be backfilled. False when the schema is complete. */
async function begin(tx: Transaction, work: Upgrade): Promise<boolean> {
  const { dialect, schema } = work;
  const version = await migrationsOf(tx, dialect);
  if (version < MIGRATIONS.length) {
    await requireOwner(tx, dialect);
    await within('make the tables', () => migrate(tx, version, dialect), 'create');
  }
  if ((await state.readFingerprint(tx)) === schema.fingerprint) {
    work.completed?.();
    return false;
  }
  await refuseNewer(tx);
  await requireOwner(tx, dialect);
  await lockOrganizations(tx, dialect);
  await state.writeFingerprint(tx, undefined);
  await state.writeGoal(tx, schema.fingerprint);
  const found = await readSchema(tx, dialect);
  const noted = await state.readBackfills(tx);
  await state.deleteBackfills(tx);
  const backfills: state.Backfill[] = [];
  for (const layout of schema.layouts) {
    const added = await addMissing(tx, layout, found, dialect);
    const backfill = await backfillOf(tx, layout, noted.get(layout.table), added);
    if (backfill !== undefined) backfills.push(backfill);
  }
  for (const backfill of backfills) await state.writeBackfill(tx, backfill);
  const heads = await lockLogHeads(tx, dialect);
  // A resumed pass began with the heads that are noted already: what was written since is behind it.
  if (backfills.every(({ done }) => done === 0)) await state.writeNotedHeads(tx, heads);
  return backfills.length > 0 || !(await finish(tx, work, 0));
}

async function refuseNewer(tx: Transaction): Promise<void> {
  const [theirs, own] = [await state.readMolarVersion(tx), molarVersion()];
  if (theirs === undefined || !isAbove(theirs, own)) return;
  throw new StoreUnusable(
    `The data was written by a newer molar (${theirs}; this one is ${own}).`,
    'Update molar, or use another data folder.',
  );
}

/** Throws `StoreUnusable` when an upgrade to another schema has begun since: its notes are no longer those of this one. */
async function requireGoal(tx: Transaction, { schema, dialect }: Upgrade): Promise<void> {
  if ((await state.lockGoal(tx, dialect)) === schema.fingerprint) return;
  throw new StoreUnusable(
    'Another version of molar is bringing the database to its version.',
    'Start one version only; the newer one once the other has been stopped.',
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
  const record = await state.readTableRecord(tx, table);
  if (!added && interrupted === undefined && record !== undefined && rowForm(record) === goal) return undefined;
  const row = await tx.get(sql`SELECT 1 AS found FROM ${raw(table)} LIMIT 1`);
  return row === undefined ? undefined : { table_name: table, goal, org: 0, id: 0, done: 0, total: 0 };
}

/** Notes how many rows a table has, in a transaction of its own: where columns are added it would keep all others waiting. */
async function noteTotal(tx: Transaction, { table }: Layout, work: Upgrade): Promise<void> {
  await requireGoal(tx, work);
  const at = await state.lockBackfill(tx, table, work.dialect);
  if (at === undefined || at.total > 0) return;
  const row = await tx.get<{ total: number }>(sql`SELECT COUNT(*) AS total FROM ${raw(table)}`);
  await state.writeBackfill(tx, { ...at, total: row?.total ?? 0 });
}

/** Works on the pages of a table until none is left. */
async function backfill(work: Upgrade, layout: Layout): Promise<void> {
  await within(`count the rows of the table ${layout.table}`, () => work.transact((tx) => noteTotal(tx, layout, work)));
  let reported = performance.now();
  for (;;) {
    const page = await within(`backfill the table ${layout.table}`, () =>
      work.transact((tx) => nextPage(tx, layout, work)),
    );
    if (page === undefined) return;
    if (performance.now() - reported < PROGRESS_MS) continue;
    reported = performance.now();
    work.progress?.({ table: layout.table, done: Math.min(page.done, page.total), rows: page.total });
  }
}

/** One page and, with it, how far it got; undefined when the table needs no more. */
async function nextPage(tx: Transaction, layout: Layout, work: Upgrade): Promise<state.Backfill | undefined> {
  const { dialect, pageRows = 1000 } = work;
  await requireGoal(tx, work);
  const at = await state.lockBackfill(tx, layout.table, dialect);
  if (at === undefined) return undefined;
  const page = await backfillPage(tx, layout, at, pageRows, dialect);
  if (page === undefined) return undefined;
  const reached = { ...at, org: page.org, id: page.id, done: at.done + page.rows };
  await state.writeBackfill(tx, reached);
  return reached;
}

/**
 * Builds the indexes, counts records and says that the schema is complete. False when other servers have written since the passes began,
 * which then start over; after some of them the rest is done in this transaction, while others wait.
 */
async function finish(tx: Transaction, work: Upgrade, pass: number): Promise<boolean> {
  const { dialect, schema } = work;
  await requireGoal(tx, work);
  // A server that started together with this one may have been faster.
  if ((await state.readFingerprint(tx)) === schema.fingerprint) return true;
  const isLast = pass >= FREE_PASSES;
  const plans = await indexPlans(tx, schema, dialect);
  const backfills = isLast ? await state.readBackfills(tx) : new Map();
  // In the order in which whoever writes takes locks: organizations, tables, heads of logs.
  await lockOrganizations(tx, dialect);
  const locked = plans.filter(
    ({ layout, missing, uncounted }) => missing.length > 0 || uncounted || backfills.has(layout.table),
  );
  await lockTables(
    tx,
    locked.map(({ layout }) => layout.table),
    dialect,
  );
  const heads = await lockLogHeads(tx, dialect);
  if (heads !== (await state.readNotedHeads(tx))) {
    await state.writeNotedHeads(tx, heads);
    await state.restartBackfills(tx);
    if (!isLast) return false;
    for (const layout of schema.layouts) while ((await nextPage(tx, layout, work)) !== undefined);
  }
  for (const plan of plans) {
    await settleIndexes(tx, plan, dialect);
    if (plan.uncounted) await recount(tx, plan.layout);
    await state.writeTableRecord(tx, plan.layout.table, tableRecord(plan.layout));
  }
  await state.deleteBackfills(tx);
  await state.writeMolarVersion(tx, molarVersion());
  await state.writeFingerprint(tx, schema.fingerprint);
  work.completed?.();
  return true;
}

/** Every change of a record locks the row of its organization first, imports excepted. */
async function lockOrganizations(tx: Transaction, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres') await tx.run(sql`SELECT org FROM organizations ORDER BY org FOR UPDATE`);
}

/** Keeps out imports, which lock no organization. */
async function lockTables(tx: Transaction, tables: readonly string[], dialect: Dialect): Promise<void> {
  if (dialect !== 'postgres' || tables.length === 0) return;
  await tx.run(sql`LOCK TABLE ${raw(tables.join(', '))} IN SHARE ROW EXCLUSIVE MODE`);
}

/** A digest of the newest numbers of all logs. In PostgreSQL no server can commit a change until this transaction ends. */
async function lockLogHeads(tx: Transaction, dialect: Dialect): Promise<string> {
  // Those of the stream first, as whoever writes does.
  await lockTables(tx, ['stream_heads'], dialect);
  const streams = await tx.all<{ org: number; seq: number }>(sql`SELECT org, seq FROM stream_heads ORDER BY org`);
  const locked = raw(dialect === 'postgres' ? ' FOR UPDATE' : '');
  const audit = await tx.get<{ last_id: number }>(sql`SELECT last_id FROM log_heads WHERE name = 'audit'${locked}`);
  return hash('sha256', JSON.stringify([streams.map(({ org, seq }) => [org, seq]), audit?.last_id]), 'hex');
}
