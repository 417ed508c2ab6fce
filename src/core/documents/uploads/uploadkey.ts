import { hash } from 'node:crypto';
import type { ReadyUpload } from './plan.ts';

/** Where uploads go: the server and the organization. */
export interface UploadTarget {
  readonly baseUrl: string;
  readonly organization: string;
}

/**
 * Idempotency key of an upload (D46): where to, whose, which bytes and what name; the same in every run. `generation`
 * counts the documents that were stored under earlier keys and deleted since.
 */
export function keyOf(upload: ReadyUpload, target: UploadTarget, generation: number): string {
  return `molar-${digest(upload, target, generation)}`;
}

/** What the journal knows an upload by: the same parts, whatever was deleted since. */
export function journalKeyOf(upload: ReadyUpload, target: UploadTarget): string {
  return digest(upload, target, 'journal');
}

function digest({ owner, storedName, sha256 }: ReadyUpload, target: UploadTarget, use: number | string): string {
  const parts = [target.baseUrl, target.organization, owner.field, owner.id, storedName, sha256, use];
  return hash('sha256', JSON.stringify(parts), 'hex');
}
