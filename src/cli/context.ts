import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import type { Config } from '@oclif/core/interfaces';
import type { Environment } from '../core/connection/settings.ts';
import { type Clock, systemClock } from '../core/transport/exchange.ts';
import { type Network, openNetwork, type NetworkOptions } from '../core/transport/network.ts';
import { type Streams, processStreams } from './streams.ts';

/** What a command has of the world around it; tests give their own. */
export interface Context {
  readonly streams: Streams;
  readonly env: Environment;
  readonly clock: Clock;
  readonly random: () => number;
  readonly newId: () => string;
  /** Folder for output that is held back until it is whole. */
  readonly temporaryFolder: string;
  readonly openNetwork: (options: NetworkOptions) => Network;
  /** Aborted by SIGINT and SIGTERM; its reason is a Failure. */
  readonly signal: AbortSignal;
  readonly setExitCode: (code: number) => void;
}

/** The context of this process. */
export function processContext(signal: AbortSignal): Context {
  return {
    streams: processStreams(),
    env: process.env,
    clock: systemClock,
    random: Math.random,
    newId: randomUUID,
    temporaryFolder: tmpdir(),
    openNetwork,
    signal,
    setExitCode: (code) => {
      process.exitCode = code;
    },
  };
}

const contexts = new WeakMap<Config, Context>();

/** Gives the commands of an oclif configuration their context. */
export function setContext(config: Config, context: Context): void {
  contexts.set(config, context);
}

/** The context that was given to a configuration, or that of this process without signals. */
export function contextOf(config: Config): Context {
  const known = contexts.get(config) ?? processContext(new AbortController().signal);
  contexts.set(config, known);
  return known;
}
