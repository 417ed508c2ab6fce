import { existsSync } from 'node:fs';
import type { Store } from '../store/store.ts';
import { appendCheckpoint, type CheckpointReason } from './checkpoints.ts';
import { auditKeyFile, type KeyPlace, openAuditKey } from './keys.ts';

/**
 * Signs the end of a log for a command, which has no keeper: with the key of the place, which a restore makes where there
 * is none. False when there is nothing new, or no key that signs. A running server ships the checkpoint with its own.
 */
export async function signNow(
  store: Store,
  { data, auditKey = auditKeyFile(data) }: KeyPlace,
  reason: CheckpointReason,
  now: number,
): Promise<boolean> {
  if (reason !== 'restore' && !existsSync(auditKey)) return false;
  const key = await openAuditKey(auditKey).catch((error: unknown) => {
    if (reason === 'restore') throw error;
  });
  if (key === undefined) return false;
  return (await store.write((tx) => appendCheckpoint(tx, { key, now, reason }))) !== undefined;
}
