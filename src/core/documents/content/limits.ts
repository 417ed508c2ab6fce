import { type Failure, usageFailure } from '../../failure.ts';

/** Largest content of a document, in bytes (D38). */
export const MAX_CONTENT = 50 * 1024 * 1024;

/** The content is larger than a document may hold. `size` in bytes, where it is known. */
export function tooLarge(label: string, limit: number, size?: number): Failure {
  const has = size === undefined ? 'more' : readable(size);
  return usageFailure(`${label}: a document may have at most ${readable(limit)}, it has ${has}.`, { source: label });
}

function readable(bytes: number): string {
  const mebibytes = bytes / (1024 * 1024);
  if (mebibytes < 1) return `${bytes} bytes`;
  return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${mebibytes.toFixed(2)} MiB (${bytes} bytes)`;
}
