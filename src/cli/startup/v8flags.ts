import { setFlagsFromString } from 'node:v8';

/** The versions of Node whose V8 is known to have the flag; V8 prints a complaint about flags that it does not know. */
const KNOWN = /^v2[0-6]\./;

/**
 * Makes V8 optimize WebAssembly, undici's parser of responses, only after a hundred times as many headers as usual,
 * about a kilobyte of them. V8 waits at the end of the process for what it has begun to optimize: half of the time of a
 * command with one request.
 */
export function delayOptimizedParser(): void {
  if (KNOWN.test(process.version)) setFlagsFromString('--wasm-tiering-budget=180000000');
}
