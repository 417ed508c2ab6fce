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
