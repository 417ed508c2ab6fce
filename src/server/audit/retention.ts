import sql from 'sql-template-tag';
import type { Clock } from '../clock.ts';
import { unindexPatients } from '../store/patientindex.ts';
import type { Reader, Store } from '../store/store.ts';
import { DAY_MS } from '../stream/stream.ts';
import { ChainWalk, type NextMark } from './chain.ts';
import { appendCheckpoint, type Checkpoint, checkpointPages, isSigned, signedRemoval } from './checkpoints.ts';
import { type Actor, appendAudit } from './entries.ts';
import { type AuditRow, auditPages } from './export.ts';
import type { CheckpointKeeper } from './keeper.ts';
import type { AuditKey, PublicKeys } from './keys.ts';

/** Default retention in days: six years, as long as such records must be retained in the USA. */
export const DEFAULT_AUDIT_DAYS = 2192;

const RETENTION: Actor = { who: 'retention', address: null, requestId: null };

/**
 * Deletes entries older than `days`, oldest first, and audits that. What was deleted is signed in a checkpoint of the same
 * write: without it, first entries that are missing are damage. Entries that were tampered with stay, however old they
 * say they are. Stops early when `signal` is aborted.
 */
export async function deleteOldEntries(
  store: Store,
  keeper: Pick<CheckpointKeeper, 'signing' | 'committed'>,
  clock: Clock,
  days: number,
  signal?: AbortSignal,
): Promise<void> {
  const cutoff = new Date(clock() - days * DAY_MS).toISOString();
  while (!signal?.aborted) {
    const deleted = await store.write(async (tx) => {
      const signing = keeper.signing('retention');
      const page = await firstPage(tx);
      // Entries are in the order of their commits, which is that of their times but for moments.
      const young = page.findIndex(({ at }) => at >= cutoff);
      const old = young < 0 ? page : page.slice(0, young);
      const last = old.at(-1);
      if (last === undefined || !(await areWhole(tx, old, signing.key))) return undefined;
      const checkpoint = await appendCheckpoint(tx, { ...signing, removing: { id: last.id, hash: last.hash } });
      await unindexPatients(tx, old);
      await tx.run(sql`DELETE FROM audit_entries WHERE id > 0 AND id <= ${last.id}`);
      const at = new Date(clock()).toISOString();
      await appendAudit(tx, { org: null, at, actor: RETENTION, operation: 'audit.delete', count: old.length });
      return { checkpoint, isDone: old.length < page.length };
    });
    if (deleted === undefined) return;
    keeper.committed(deleted.checkpoint);
    if (deleted.isDone) return;
  }
}

/** As many entries as one write deletes, so that others do not wait long. */
async function firstPage(read: Reader): Promise<readonly AuditRow[]> {
  for await (const page of auditPages(read)) return page;
  return [];
}

/** Whether the first entries are as they were written: linked to each other, and as the checkpoints about them say. */
async function areWhole(read: Reader, rows: readonly AuditRow[], { id, own }: AuditKey): Promise<boolean> {
  const isOwn = ({ key, reason }: Checkpoint) => key === id && reason === 'retention';
  const removed = (await signedRemoval(read, own, isOwn)) ?? { id: 0, hash: '', checkpoints: 0 };
  const walk = new ChainWalk(removed, marksOf(read, removed.checkpoints, own));
  for (const row of rows) await walk.next(row);
  await walk.finish();
  return walk.problems.length === 0;
}

/** The checkpoints behind a number. One that was changed fits no entry; what another server signed counts as it is. */
function marksOf(read: Reader, after: number, keys: PublicKeys): NextMark {
  const pages = checkpointPages(read, { after });
  let page: Checkpoint[] = [];
  return async () => {
    if (page.length === 0) page = [...((await pages.next()).value ?? [])];
    const checkpoint = page.shift();
    return checkpoint && isSigned(checkpoint, keys) === false ? { ...checkpoint, hash: '' } : checkpoint;
  };
}
