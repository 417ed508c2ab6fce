import { setFlagsFromString } from 'node:v8';
import { type Network, type NetworkOptions, openNetwork } from '../core/transport/network.ts';

/** The lines of Node whose V8 is known to have the flag; V8 complains aloud about flags that it does not know. */
const KNOWN = /^v2[0-6]\./;

/**
 * The network, set up for a process that may end soon. Answers are parsed by WebAssembly, which V8 compiles once more,
 * optimized, after about a kilobyte of headers, and what it has begun the process waits for at its end: half of the
 * time of a command that sends one request. Here a hundred times as many headers come first.
 */
export function openQuickNetwork(options: NetworkOptions): Network {
  if (KNOWN.test(process.version)) setFlagsFromString('--wasm-tiering-budget=180000000');
  return openNetwork(options);
}
