import { molarVersion } from '../../version.ts';
import { recount } from '../counts.ts';
import type { Transaction } from '../store.ts';
import { type IndexPlan, indexPlans, settleIndexes } from './indexes.ts';
import { limitWaiting, lockOrganizations, lockTables } from './locks.ts';
import { readLogHeads } from './logheads.ts';
import { nextPage, requireGoal } from './pages.ts';
import { tableRecord } from './schema.ts';
import * as state from './state.ts';
import type { Upgrade } from './upgradework.ts';

/** Passes over the rows of SQLite during which other processes may write; the one after them keeps them waiting. */
const FREE_PASSES = 3;

/**
 * Counts records and says that the schema is complete. False when an index is missing, or when other processes have written
 * to SQLite since the passes began, which then start over; after some of them the rest is done in this transaction.
 */
export async function complete(tx: Transaction, work: Upgrade, pass: number): Promise<boolean> {
  const { dialect, schema } = work;
  await requireGoal(tx, work);
  // A server that started together with this one may have been faster.
  if ((await state.readFingerprint(tx)) === schema.fingerprint) return true;
  const plans = await indexPlans(tx, schema, dialect);
  const isBuilt = (plan: IndexPlan) => work.indexing !== undefined && !plan.isEmpty;
  if (plans.some((plan) => isBuilt(plan) && plan.missing.length > 0)) return false;
  if (dialect === 'sqlite') {
    if (!(await isUndisturbed(tx, work, pass))) return false;
  } else {
    await limitWaiting(tx);
    await lockUncounted(tx, plans);
  }
  for (const plan of plans) {
    if (!isBuilt(plan)) await settleIndexes(tx, plan, dialect);
    if (plan.uncounted) await recount(tx, plan.layout);
    await state.writeTableRecord(tx, plan.layout.table, tableRecord(plan.layout));
  }
  await state.deleteBackfills(tx);
  await state.writeMolarVersion(tx, molarVersion());
  await state.writeFingerprint(tx, schema.fingerprint);
  await leaveToFinish(tx, work, plans);
  await work.completed?.(tx);
  return true;
}

/** Notes which indexes are to go at the end; on SQLite, where nobody else serves, the end is now. */
async function leaveToFinish(tx: Transaction, work: Upgrade, plans: readonly IndexPlan[]): Promise<void> {
  const left = await state.readUnfinished(tx);
  if (left === undefined) return;
  if (work.dialect === 'sqlite') {
    await state.deleteServed(tx);
    return state.writeUnfinished(tx, undefined);
  }
  const declared = new Set(plans.flatMap(({ layout }) => layout.indexes.map(({ name }) => name)));
  const undeclared = [...left.indexes, ...plans.flatMap(({ undeclared }) => undeclared)];
  const indexes = [...new Set(undeclared)].filter((name) => !declared.has(name));
  await state.writeUnfinished(tx, { ...left, indexes });
}

/** Keeps others from writing to tables whose records are to be counted. */
async function lockUncounted(tx: Transaction, plans: readonly IndexPlan[]): Promise<void> {
  const tables = plans.filter(({ uncounted, isEmpty }) => uncounted && !isEmpty).map(({ layout }) => layout.table);
  if (tables.length === 0) return;
  // In the order in which whoever writes takes locks.
  await lockOrganizations(tx, 'postgres');
  await lockTables(tx, tables);
}

/** Whether nobody has written to SQLite since a pass began; if anybody has, rows are looked through again. */
async function isUndisturbed(tx: Transaction, work: Upgrade, pass: number): Promise<boolean> {
  const heads = await readLogHeads(tx);
  if (heads === (await state.readNotedHeads(tx))) return true;
  await state.writeNotedHeads(tx, heads);
  await state.restartBackfills(tx);
  if (pass < FREE_PASSES) return false;
  for (const layout of work.schema.layouts) while ((await nextPage(tx, layout, work)) !== undefined);
  return true;
}
