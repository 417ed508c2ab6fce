import { tmpdir } from 'node:os';
import type { Config } from '@oclif/core/interfaces';
import { type Clock, systemClock } from '../core/clock.ts';
import type { Environment } from '../core/environment.ts';
import type { Failure } from '../core/failure.ts';
import type { Keyring } from '../core/profiles/keyring.ts';
import { type Network, type NetworkOptions, openNetwork } from '../core/transport/network.ts';
import { type Shell, shellOf } from '../shells/shell.ts';
import { type Interrupts, processInterrupts } from './process/interrupts.ts';
import { newId } from './startup/newid.ts';
import { delayOptimizedParser } from './startup/v8flags.ts';
import { processStreams, type Streams } from './terminal/streams.ts';

/** Everything of the outside world that a command uses; tests pass their own. */
export interface Context {
  readonly streams: Streams;
  readonly env: Environment;
  /** The one that the user types into. */
  readonly shell: Shell;
  readonly clock: Clock;
  readonly random: () => number;
  readonly newId: () => string;
  /** Folder for output that is buffered until it is complete. */
  readonly temporaryFolder: string;
  readonly openNetwork: (options: NetworkOptions) => Network;
  readonly keyring: Keyring;
  /** Aborted by SIGINT, SIGTERM and SIGHUP; its reason is a Failure. Reading it replaces Node's own handling of signals. */
  readonly signal: AbortSignal;
  /** The failure of the signal that arrived; undefined before. */
  readonly interrupted: () => Failure | undefined;
  /** Says how many milliseconds the command takes to end after a signal, if more than most do. */
  readonly allowEnding: (milliseconds: number) => void;
  /** Ends the command as SIGTERM does. */
  readonly terminate: () => void;
  readonly setExitCode: (code: number) => void;
}

const openKeyring = async () => (await import('./account/keyring/systemkeyring.ts')).systemKeyring;

/** The keyring of the system, loaded with what starts processes when a profile first needs it. */
const lazyKeyring: Keyring = {
  read: async (account, signal) => (await openKeyring()).read(account, signal),
  write: async (account, secret, signal) => (await openKeyring()).write(account, secret, signal),
  remove: async (account, signal) => (await openKeyring()).remove(account, signal),
};

/** The context of this process. */
export function processContext(interrupts: Interrupts): Context {
  return {
    streams: processStreams(),
    env: process.env,
    shell: shellOf(process.env, process.platform),
    clock: systemClock,
    random: Math.random,
    newId,
    temporaryFolder: tmpdir(),
    openNetwork: (options) => {
      delayOptimizedParser();
      return openNetwork(options);
    },
    keyring: lazyKeyring,
    get signal() {
      return interrupts.signal;
    },
    interrupted: interrupts.failure,
    allowEnding: interrupts.allowEnding,
    terminate: interrupts.terminate,
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

/** The context that was given to a configuration, or that of this process. */
export function contextOf(config: Config): Context {
  const known = contexts.get(config) ?? processContext(processInterrupts());
  contexts.set(config, known);
  return known;
}
