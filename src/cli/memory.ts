import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Records between two collections. */
const INTERVAL = 25_000;

/**
 * Keeps the memory of a long run flat: told the records so far, it has V8 collect its old garbage now and then. By
 * itself V8 lets that grow to a multiple of what a run needs, 20 MB for every 500k records, before it looks at it.
 */
export function memoryKeeper(): (total: number) => void {
  let next = INTERVAL;
  let collect: (() => void) | undefined;
  return (total) => {
    if (total < next) return;
    next = total + INTERVAL;
    collect ??= garbageCollector();
    collect();
  };
}

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}
