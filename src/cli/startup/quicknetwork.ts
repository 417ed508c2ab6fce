import { type Network, type NetworkOptions, openNetwork } from '../../core/transport/network.ts';
import { delayOptimizedParser } from './parserflag.ts';

/** The network, set up for a process that may end soon. */
export function openQuickNetwork(options: NetworkOptions): Network {
  delayOptimizedParser();
  return openNetwork(options);
}
