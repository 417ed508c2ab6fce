import sql from 'sql-template-tag';
import type { Clock } from '../clock.ts';
import { type IndexedEntry, unindexPatients } from '../store/patientindex.ts';
import type { Store } from '../store/store.ts';
import { DAY_MS } from '../stream/stream.ts';
import { ANCHOR } from './chain.ts';
import { type Actor, appendAudit } from './entries.ts';

/** Default retention in days: six years, as long as such records must be retained in the USA. */
export const DEFAULT_AUDIT_DAYS = 2192;

/** Entries deleted per write, so that other writes do not wait long. */
const CHUNK = 1000;

const RETENTION: Actor = { who: 'retention', address: null, requestId: null };

/**
 * Deletes entries older than `days`, oldest first, and audits that. The last one deleted is stored as the anchor, so that
 * the rest of the chain can be verified. Stops early when `signal` is aborted.
 */
export async function deleteOldEntries(store: Store, clock: Clock, days: number, signal?: AbortSignal): Promise<void> {
  const cutoff = new Date(clock() - days * DAY_MS).toISOString();
  while (!signal?.aborted) {
    const deleted = await store.write(async (tx) => {
      const old = await tx.all<IndexedEntry & { hash: string; at: string }>(
        sql`SELECT id, hash, at, org, operation, ids, patients, covers_all FROM audit_entries ORDER BY id LIMIT ${CHUNK}`,
      );
      // Entries are in the order of their commits, which is that of their times but for moments.
      const young = old.findIndex(({ at }) => at >= cutoff);
      const count = young < 0 ? old.length : young;
      const last = old[count - 1];
      if (last === undefined) return 0;
      await tx.run(sql`INSERT INTO settings (name, value) VALUES (${ANCHOR}, ${`${last.id}:${last.hash}`})
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
      await unindexPatients(tx, old.slice(0, count));
      await tx.run(sql`DELETE FROM audit_entries WHERE id <= ${last.id}`);
      const at = new Date(clock()).toISOString();
      await appendAudit(tx, { org: null, at, actor: RETENTION, operation: 'audit.delete', count });
      return count;
    });
    if (deleted < CHUNK) return;
  }
}
