import type { Transaction } from '../store/store.ts';
import { type Change, messageOf } from '../stream/changemessages.ts';
import { appendMessage } from '../stream/outbox.ts';

/**
 * Tells of a change of a record, in the transaction that makes it: the one place for everything that is written beside
 * a record because it changed. Every write of a record calls it once, after the write.
 */
export async function recordChange(tx: Transaction, change: Change): Promise<void> {
  const message = messageOf(change);
  if (message !== undefined) await appendMessage(tx, message);
}
