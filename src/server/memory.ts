import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects garbage now. V8 lets a heap grow to a multiple of what was alive at its last collection: after a bulk job
 * that would be a multiple of what the job needed, for as long as the server runs.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}

/** Percent of what is alive by which the heap may grow before all of it is collected. */
const GROWTH = 300;

/**
 * Has V8 collect the whole heap seldom. Pages of records are bytes outside the heap that V8 counts as its growth, and the
 * heap of a server is small: a dozen pages would have all of it collected again, and everybody waits for that. The
 * short collections of what is young give such pages back as well.
 */
export function collectSeldom(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH}`);
}
