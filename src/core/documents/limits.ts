import { type Failure, usageFailure } from '../failure.ts';

/** Largest content of a document, in bytes (D38). */
export const MAX_CONTENT = 50 * 1024 * 1024;

/** The content is larger than a document may hold. `size` in bytes, where it is known. */
export function tooLarge(label: string, limit: number, size?: number): Failure {
  const has = size === undefined ? 'more' : mebibytes(size);
  return usageFailure(`${label}: a document may have at most ${mebibytes(limit)}, it has ${has}.`, { source: label });
}

function mebibytes(bytes: number): string {
  return bytes % (1024 * 1024) === 0 ? `${bytes / 1024 / 1024} MiB` : `${(bytes / 1024 / 1024).toFixed(2)} MiB`;
}
