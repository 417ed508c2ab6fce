import { existsSync } from 'node:fs';
import sql from 'sql-template-tag';
import type { Reader, Store, Transaction } from '../store/store.ts';
import { appendCheckpoint, type CheckpointReason } from './checkpoints.ts';
import { type AuditKey, auditKeyFile, type KeyPlace, openAuditKey } from './keys.ts';

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

/** The setting by which a command that has no key to sign with asks the servers of the store for a checkpoint. */
const WANTED = 'audit_checkpoint_wanted';

/** Asks for a checkpoint, which a running server writes within a second. */
async function requestCheckpoint(store: Store): Promise<void> {
  await store.write((tx) =>
    tx.run(sql`INSERT INTO settings (name, value) VALUES (${WANTED}, '') ON CONFLICT (name) DO NOTHING`),
  );
}

/** Whether somebody asks for a checkpoint, and the number of the last one. */
export async function readRequest(read: Reader): Promise<{ readonly last: number; readonly wanted: boolean }> {
  const row = await read.get<{ last: number | null; wanted: number }>(sql`
    SELECT (SELECT MAX(number) FROM audit_checkpoints) AS last,
      (SELECT COUNT(*) FROM settings WHERE name = ${WANTED}) AS wanted`);
  return { last: row?.last ?? 0, wanted: (row?.wanted ?? 0) > 0 };
}

/** The request is met by the transaction that this is part of. */
export async function dropRequest(tx: Transaction): Promise<void> {
  await tx.run(sql`DELETE FROM settings WHERE name = ${WANTED}`);
}
