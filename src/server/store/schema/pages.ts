import sql, { raw } from 'sql-template-tag';
import type { Layout } from '../layout.ts';
import { StoreUnusable, type Transaction } from '../store.ts';
import { backfillPage } from './backfill.ts';
import { within } from './faults.ts';
import { limitWaiting } from './locks.ts';
import { declareSchema } from './repairs.ts';
import * as state from './state.ts';
import type { Upgrade } from './upgradework.ts';

/** Milliseconds between two calls of `progress`. */
const PROGRESS_MS = 3000;

/** Throws `StoreUnusable` when an upgrade to another schema has begun since: its notes are no longer those of this one. */
export async function requireGoal(tx: Transaction, { schema, dialect }: Upgrade): Promise<void> {
  if ((await state.lockGoal(tx, dialect)) === schema.fingerprint) return;
  throw new StoreUnusable(
    'Another version of molar is bringing the database to its version.',
    'Start one version only; the newer one once the other has been stopped.',
  );
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
export async function backfill(work: Upgrade, layout: Layout): Promise<void> {
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
export async function nextPage(tx: Transaction, layout: Layout, work: Upgrade): Promise<state.Backfill | undefined> {
  const { dialect, pageRows = 1000 } = work;
  if (dialect === 'postgres') await limitWaiting(tx);
  await requireGoal(tx, work);
  const at = await state.lockBackfill(tx, layout.table, dialect);
  if (at === undefined) return undefined;
  if (dialect === 'postgres') await declareSchema(tx, work.schema);
  const page = await backfillPage(tx, layout, at, pageRows, dialect);
  if (page === undefined) return undefined;
  const reached = { ...at, org: page.org, id: page.id, done: at.done + page.rows };
  await state.writeBackfill(tx, reached);
  return reached;
}
