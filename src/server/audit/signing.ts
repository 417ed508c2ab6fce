import { existsSync } from 'node:fs';
import type { Store } from '../store/store.ts';
import { appendCheckpoint, type CheckpointReason } from './checkpoints.ts';
import { type AuditKey, auditKeyFile, type KeyPlace, openAuditKey } from './keys.ts';
import { requestCheckpoint } from './request.ts';

/**
 * Signs the end of a log for a command, which has no keeper: with the key of the place, which a restore makes where there
 * is none. Without a key that signs, a running server is asked to. Whether it has signed something new.
 */
export async function signNow(
  store: Store,
  { data, auditKey = auditKeyFile(data) }: KeyPlace,
  reason: CheckpointReason,
  now: number,
): Promise<boolean> {
  await store.sequenceEntries();
  const key = reason === 'restore' ? await openAuditKey(auditKey) : await keyIn(auditKey);
  if (key === undefined) {
    await requestCheckpoint(store);
    return false;
  }
  return (await store.write((tx) => appendCheckpoint(tx, { key, now, reason }))) !== undefined;
}

/** The key that is there already; undefined where none is that signs, such as a public half. */
async function keyIn(file: string): Promise<AuditKey | undefined> {
  return existsSync(file) ? openAuditKey(file).catch(() => undefined) : undefined;
}
