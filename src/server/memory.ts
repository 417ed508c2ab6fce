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
 * Makes V8 run full collections seldom: it counts pages of records, bytes outside the heap, as growth of a small heap, and
 * would run one every dozen pages. Collections of young objects free such pages as well.
 */
export function collectSeldom(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
}
