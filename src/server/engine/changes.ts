import { type Actor, appendAudit } from '../audit/entries.ts';
import type { Transaction } from '../store/store.ts';
import { type Change, messageOf } from '../stream/changemessages.ts';
import { appendMessage } from '../stream/outbox.ts';

/** A change and who made it; an import, which has no `actor`, tells of its changes together when it ends. */
export interface RecordedChange extends Change {
  readonly actor: Actor | undefined;
}

/**
 * Tells of a change of a record, in the transaction that makes it: the one place for everything that is written beside
 * a record because it changed. Every write of a record calls it once, after the write.
 */
export async function recordChange(tx: Transaction, change: RecordedChange): Promise<void> {
  const message = messageOf(change);
  if (message !== undefined) await appendMessage(tx, message);
  const { actor, organization, resource, before, after, at } = change;
  const id = (after ?? before)?.id;
  if (actor === undefined || typeof id !== 'number') return;
  const verb = before === undefined ? 'create' : after === undefined ? 'delete' : 'update';
  await appendAudit(tx, { org: organization.org, at, actor, operation: `${resource.name}.${verb}`, ids: [id] });
}
