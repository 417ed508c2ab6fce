import { setFlagsFromString } from 'node:v8';

/** The line of Node for which it was measured; later ones have another compiler between. */
const MEASURED = /^v20\./;

/**
 * Has V8 optimize a function after sixteen times as much use as usual, for runs of a second that call thousands of
 * functions some hundred times each: what V8 optimizes there is done too late to pay, on the core that the server may need.
 */
export function delayOptimizer(): void {
  if (MEASURED.test(process.version)) setFlagsFromString('--interrupt-budget=1081344');
}
