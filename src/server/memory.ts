import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects garbage now: after a bulk job V8 would keep a heap of a multiple of what the job needed. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}

/** Percentage of live data by which the heap may grow before a full collection. */
const HEAP_GROWTH = 300;

/**
 * Makes V8 run full collections seldom. Pages of records are bytes outside the heap that V8 counts as its growth, and the
 * heap of a server is small: a dozen pages would cause a full collection, which delays every request. Short collections
 * of young objects free such pages as well.
 */
export function collectSeldom(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
}
