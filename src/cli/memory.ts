import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Records, lines of records that are not parsed, or bytes of files, between two collections. */
const RECORDS = 25_000;
export const LINES = 200_000;
const BYTES = 8 * 1024 * 1024;

/**
 * Keeps the memory of a long run flat: told the records so far, it has V8 collect its old garbage now and then. By
 * itself V8 lets that grow to a multiple of what a run needs, 20 MB for every 500k records or for the buffers of a large
 * file, before it looks at it.
 */
export function memoryKeeper(interval = RECORDS): (total: number) => void {
  let next = interval;
  let collect: (() => void) | undefined;
  return (total) => {
    if (total < next) return;
    next = total + interval;
    collect ??= garbageCollector();
    collect();
  };
}

/** The same for large files, told the bytes of each piece as they come. */
export function byteKeeper(): (bytes: number) => void {
  const keep = memoryKeeper(BYTES);
  let total = 0;
  return (bytes) => {
    total += Math.max(0, bytes);
    keep(total);
  };
}

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  // V8 accepts cached code (`startup/node20.ts`) only with the very flags that were set when it was compiled.
  setFlagsFromString('--no-expose-gc');
  return collect;
}
