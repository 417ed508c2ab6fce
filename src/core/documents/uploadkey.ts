import { createHash } from 'node:crypto';
import type { ReadyUpload } from './plan.ts';

/**
 * Idempotency key of an upload (D46): where to, whose, which bytes and what name; the same in every run. `generation`
 * counts the documents that were stored under earlier keys and deleted since.
 */
export function keyOf(
  upload: ReadyUpload,
  target: { readonly baseUrl: string; readonly organization: string },
  generation: number,
): string {
  const { owner, storedName, sha256 } = upload;
  const parts = [target.baseUrl, target.organization, owner.field, owner.id, storedName, sha256, generation];
  return `molar-${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`;
}
