import { setFlagsFromString } from 'node:v8';

/** The lines of Node whose V8 is known to have the flag; V8 complains aloud about flags that it does not know. */
const KNOWN = /^v2[0-6]\./;

/**
 * Has V8 compile WebAssembly, the parser of answers, once more and optimized only after a hundred times as many headers
 * as usual: that is after about a kilobyte of them, and what it has begun the process waits for at its end, half of the
 * time of a command that sends one request.
 */
export function delayOptimizedParser(): void {
  if (KNOWN.test(process.version)) setFlagsFromString('--wasm-tiering-budget=180000000');
}
