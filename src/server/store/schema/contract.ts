import { runText } from '../migrations/migrate.ts';
import { StoreUnusable, type Transaction } from '../store.ts';
import { within } from './faults.ts';
import { limitWaiting, lockOrganizations } from './locks.ts';
import { endRepairs, repairNoted } from './repairs.ts';
import type { Schema } from './schema.ts';
import { databaseNow, lastOther } from './servers.ts';
import * as state from './state.ts';
import type { Upgrade } from './upgradework.ts';

/** Milliseconds without a sign of an older server after which it is taken to be gone for good. */
export const QUIET_MS = 10 * 60 * 1000;

/** A process that runs says so every few seconds: one that was not seen for so long was killed, or has lost the database. */
const RUNNING_MS = 60 * 1000;

/** Whether anything is left to do, and whether it may be done now. */
export type Finish = 'finished' | 'older' | 'elsewhere';

/** Deals with all notes of rows that there are. */
export async function repairAll({ schema, transact }: Pick<Upgrade, 'schema' | 'transact'>): Promise<void> {
  while ((await transact((tx) => repairOwn(tx, schema))) > 0);
}

/** Deals with some notes, unless another version has begun to bring the database to its schema. */
async function repairOwn(tx: Transaction, schema: Schema): Promise<number> {
  return (await state.readGoal(tx)) === schema.fingerprint ? repairNoted(tx, schema) : 0;
}

/**
 * The last phase of an upgrade in PostgreSQL: takes away what only older servers need, from when on they are not ready any
 * more. `older` when some may still be there, `elsewhere` when that is for another version to do. With `asked`, an owner
 * has said that they are gone: only those that run are waited for. Throws `StoreUnusable` where the user may not do it.
 */
export async function finishUpgrade(work: Upgrade, asked = false): Promise<Finish> {
  await repairAll(work);
  return within('finish the upgrade', () => work.transact((tx) => tryFinish(tx, work, asked)));
}

async function tryFinish(tx: Transaction, work: Upgrade, asked: boolean): Promise<Finish> {
  const { dialect, schema, quietMs = QUIET_MS } = work;
  if ((await state.lockGoal(tx, dialect)) !== schema.fingerprint) return 'elsewhere';
  const left = await state.readUnfinished(tx);
  if (left === undefined) return 'finished';
  if ((await state.readFingerprint(tx)) !== schema.fingerprint) return 'elsewhere';
  const other = await lastOther(tx, schema.fingerprint, asked ? RUNNING_MS : quietMs, asked);
  if (other !== undefined && asked) throw stillRunning(other);
  if (other !== undefined || (!asked && (await databaseNow(tx)) < left.notBefore)) return 'older';
  await limitWaiting(tx);
  await lockOrganizations(tx, dialect);
  await endRepairs(tx);
  // Those that were added meanwhile: what somebody has in hand would not be repaired.
  await lockOrganizations(tx, dialect);
  // What an import had in hand until then.
  while ((await repairNoted(tx, schema)) > 0);
  for (const index of left.indexes) await runText(tx, `DROP INDEX IF EXISTS ${index}`, dialect);
  await state.deleteServed(tx);
  await state.writeUnfinished(tx, undefined);
  return 'finished';
}

function stillRunning({ molar, ago }: { readonly molar: string; readonly ago: number }): StoreUnusable {
  return new StoreUnusable(
    `A server of an earlier version (molar ${molar}) used the database ${Math.round(ago / 1000)} seconds ago.`,
    'Stop every server of an earlier version and run it again; after one that was killed, a minute later.',
  );
}
