import { StoreUnusable } from '../store.ts';
import { complete } from './complete.ts';
import { finishUpgrade, repairAll } from './contract.ts';
import { begin } from './expand.ts';
import { refuseDuplicates, within } from './faults.ts';
import { hasOtherText, indexPlans, noteIndex } from './indexes.ts';
import { backfill, requireGoal } from './pages.ts';
import type { Indexing, Upgrade } from './upgradework.ts';

/**
 * Brings a store to this version: hand-written migrations first, then the tables of resources to what follows from the
 * catalog. Where they follow it already that is one read. Otherwise tables and columns are added, rows are brought to their
 * form in pages, each in a transaction that also notes how far it got, and indexes are built. An upgrade that was
 * interrupted, at whatever point, is resumed by the next start; servers that start together share the pages.
 *
 * Older servers may go on with the same PostgreSQL. What is added to their tables is nullable or has a default, and a
 * trigger notes each row that they write; it is brought to its form soon after (`repairNoted`), by whoever serves the new
 * schema. What they need is taken away only when they are gone (`finishUpgrade`). Where a new schema does not suit them
 * (`suitsOlder`) they are not ready from the beginning on (`Store.ping`) and should get no more requests.
 *
 * Throws `StoreUnusable`.
 */
export async function upgrade(work: Upgrade): Promise<void> {
  const found = await within('bring the tables to this version', () => work.transact((tx) => begin(tx, work)));
  if (found === 'pending') await fill(work);
  if (found === 'served' || work.dialect === 'sqlite') return;
  await finishUpgrade(work, work.finish).catch((error: unknown) => {
    // Who serves only leaves it to the owner.
    if (work.finish === true || !(error instanceof StoreUnusable)) throw error;
  });
}

/** Works on rows and indexes until the schema is complete. */
async function fill(work: Upgrade): Promise<void> {
  for (let pass = 1; ; pass++) {
    for (const layout of work.schema.layouts) await backfill(work, layout);
    if (work.indexing !== undefined) await buildIndexes(work, work.indexing);
    if (work.dialect === 'postgres') await repairAll(work);
    if (await within('complete the tables', () => work.transact((tx) => complete(tx, work, pass)))) return;
  }
}

/** Builds the indexes that are missing, while others write. Throws `StoreUnusable` where records do not allow a unique one. */
async function buildIndexes(work: Upgrade, indexing: Indexing): Promise<void> {
  const plans = await work.transact((tx) => indexPlans(tx, work.schema, work.dialect));
  for (const { layout, missing, isEmpty } of plans) {
    for (const index of isEmpty ? [] : missing) {
      const replaces = await work.transact(async (tx) => {
        await refuseDuplicates(tx, index);
        // Read again: another server may have dropped it since, and be at the new one.
        return hasOtherText(tx, layout, index);
      });
      await within(`build the index ${index.name}`, async () => {
        if (replaces) {
          await indexing.drop(index.name);
          await work.transact(async (tx) => {
            await requireGoal(tx, work);
            await noteIndex(tx, layout, index);
          });
        }
        await indexing.build(index);
      });
    }
  }
}
