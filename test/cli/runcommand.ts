import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { Config } from '@oclif/core/config';
import { type Context, setContext } from '../../src/cli/context.ts';
import type { OutStream } from '../../src/cli/terminal/streams.ts';
import { type Script, SleepLog } from '../core/transport/script.ts';

/** What a command left behind. */
export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface World {
  readonly script?: Script;
  readonly stdin?: string | Uint8Array;
  /** Columns of the terminal that all streams are; none where absent. */
  readonly terminal?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** `sh` where absent. */
  readonly shell?: Context['shell'];
  readonly confirm?: Context['streams']['confirm'];
  /** Takes the place of standard output. */
  readonly write?: OutStream['write'];
  readonly signal?: AbortSignal;
  readonly keyring?: Context['keyring'];
  readonly clock?: Context['clock'];
  readonly ask?: Context['streams']['ask'];
  /** Nobody sees progress where absent. */
  readonly startProgress?: Context['streams']['startProgress'];
  /** Takes the place of the script. */
  readonly openNetwork?: Context['openNetwork'];
  /** Counts from `id-1` where absent. */
  readonly newId?: Context['newId'];
  readonly allowEnding?: Context['allowEnding'];
}

interface Startable {
  readonly start: (argv: readonly string[], config: Config) => Promise<void>;
  id: string;
}

const loading = Config.load({ root: resolve(import.meta.dirname, '../..') });

const ENV = {
  MOLAR_URL: 'https://api.example.com',
  MOLAR_ORGANIZATION: 'org-1',
  MOLAR_TOKEN: 'secret',
  MOLAR_CONFIG_DIR: '/nonexistent',
  // Tests are about words; those about colours take it off.
  NO_COLOR: '1',
};

const nobody = () => Promise.reject(new Error('There is no keyring.'));
const NO_KEYRING: Context['keyring'] = { read: nobody, write: nobody, remove: nobody };

/** Runs a command in this process against a scripted server. */
export async function runCommand(
  id: string,
  command: unknown,
  argv: readonly string[],
  world: World = {},
): Promise<Ran> {
  // One of its own: commands that run at the same time have different contexts.
  const config: Config = Object.create(await loading);
  const texts = { stdout: '', stderr: '' };
  let exitCode = 0;
  const isTTY = world.terminal !== undefined;
  const signal = world.signal ?? new AbortController().signal;
  const stream = (name: 'stdout' | 'stderr'): OutStream => ({
    write: async (chunk) => {
      texts[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    },
    isTTY,
    columns: world.terminal,
  });
  let ids = 0;
  setContext(config, {
    streams: {
      stdout: world.write ? { ...stream('stdout'), write: world.write } : stream('stdout'),
      stderr: stream('stderr'),
      stdin: { isTTY, chunks: once(world.stdin ?? '') },
      confirm: world.confirm ?? (() => Promise.reject(new Error('Nobody is to be asked.'))),
      ask: world.ask,
      startProgress: world.startProgress,
    },
    env: { ...ENV, ...world.env },
    shell: world.shell ?? 'sh',
    clock: world.clock ?? new SleepLog(),
    random: () => 1,
    newId: world.newId ?? (() => `id-${++ids}`),
    temporaryFolder: tmpdir(),
    openNetwork: world.openNetwork ?? (() => networkOf(world.script)),
    keyring: world.keyring ?? NO_KEYRING,
    signal,
    interrupted: () => (signal.aborted ? signal.reason : undefined),
    allowEnding: world.allowEnding ?? (() => undefined),
    terminate: () => undefined,
    setExitCode: (code) => {
      exitCode = code;
    },
  });
  const startable = command as Startable;
  startable.id = id;
  await startable.start(argv, config);
  return { exitCode, ...texts };
}

function networkOf(script: Script | undefined): ReturnType<Context['openNetwork']> {
  return {
    send: script?.send ?? (() => Promise.reject(new Error('Nothing is to be sent.'))),
    close: () => Promise.resolve(),
  };
}

async function* once(input: string | Uint8Array): AsyncGenerator<Uint8Array> {
  if (input.length > 0) yield typeof input === 'string' ? Buffer.from(input) : input;
}

/** The failure that a command wrote as JSON; fails unless standard error is that object and nothing else. */
export function jsonFailure(ran: Ran): Record<string, unknown> {
  const parsed = JSON.parse(ran.stderr) as { error: Record<string, unknown> };
  if (ran.stderr !== `${JSON.stringify(parsed)}\n`) throw new Error(`More than one object: ${ran.stderr}`);
  return parsed.error;
}
