import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Records between two collections, bytes for files. */
const RECORDS = 25_000;
const BYTES = 8 * 1024 * 1024;

/** The same for records that are copied as text, without parsing. */
export const RAW_RECORDS = 200_000;

/**
 * Keeps the memory of a long run flat: called with the records so far, it has V8 collect old garbage at intervals. V8
 * alone lets it grow to a multiple of what a run needs: 20 MB for 500k records or the buffers of a large file.
 */
export function periodicCollector(interval = RECORDS): (total: number) => void {
  let next = interval;
  let collect: (() => void) | undefined;
  return (total) => {
    if (total < next) return;
    next = total + interval;
    collect ??= garbageCollector();
    collect();
  };
}

/** The same for large files, called with the bytes of each chunk. */
export function byteCollector(): (bytes: number) => void {
  const collect = periodicCollector(BYTES);
  let total = 0;
  return (bytes) => {
    total += Math.max(0, bytes);
    collect(total);
  };
}

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  // V8 accepts cached code (`startup/node20.ts`) only with exactly the flags that it was compiled with.
  setFlagsFromString('--no-expose-gc');
  return collect;
}
