import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openNetwork } from '../../src/core/transport/network.ts';
import { type Ran, runCommand } from '../cli/runcommand.ts';
import { SleepLog } from '../core/transport/script.ts';
import { type Faithful, type Options, startFaithful } from './service.ts';

/** A faithful service, and the command line connected to it: in this process, over real sockets, without real sleep. */
export interface Driven {
  readonly service: Faithful;
  /** A folder of its own, with room for configuration and files. */
  readonly folder: string;
  readonly clock: SleepLog;
  /** Runs a command by its words and flags: `['patients', 'list', '--csv']`. */
  molar(words: readonly string[], stdin?: string): Promise<Ran>;
  close(): Promise<void>;
}

/** Starts a service whose clock is that of the client. */
export async function drive(options: Options): Promise<Driven> {
  const clock = new SleepLog();
  const service = await startFaithful({ now: clock.now, ...options });
  const folder = await mkdtemp(join(tmpdir(), 'molar-faithful-'));
  const env = { ...service.env, MOLAR_CONFIG_DIR: join(folder, 'config') };
  let ids = 0;
  return {
    service,
    folder,
    clock,
    async molar(words, stdin = '') {
      const { id, command, argv } = await commandOf(words);
      const newId = () => `run-${++ids}`;
      return runCommand(id, command, argv, { env, clock, stdin, openNetwork, newId });
    },
    async close() {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const COMMANDS = resolve(import.meta.dirname, '../../src/commands');

/** The longest run of words that names a command, its class, and the rest. */
export async function commandOf(words: readonly string[]) {
  for (let length = words.length; length > 0; length--) {
    const name = words.slice(0, length);
    if (!name.every((word) => /^[a-z][a-z-]*$/.test(word))) continue;
    const path = [`${join(COMMANDS, ...name)}.ts`, join(COMMANDS, ...name, 'index.ts')].find((file) =>
      existsSync(file),
    );
    if (!path) continue;
    const { default: command } = (await import(path)) as { default: unknown };
    return { id: name.join(':'), command, argv: words.slice(length) };
  }
  throw new Error(`There is no command ${words.join(' ')}.`);
}
