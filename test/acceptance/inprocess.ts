import { randomUUID } from 'node:crypto';
import { systemClock as clock } from '../../src/core/clock.ts';
import { openNetwork } from '../../src/core/transport/network.ts';
import { runCommand } from '../cli/runcommand.ts';
import { commandOf } from '../faithful/driving.ts';
import { cleanEnv, type Ended } from './molar.ts';

type Env = Readonly<Record<string, string>>;

/** A shell in which nothing says what to connect to: an empty value is none. */
const NOWHERE: Env = { MOLAR_URL: '', MOLAR_ORGANIZATION: '', MOLAR_TOKEN: '' };

/** Milliseconds that no command takes, even where the machine is ten times too busy. */
const LONGEST = 300_000;

/**
 * Runs a command of the sources in this process, over real sockets and with real time: for tables of cases that ask nothing
 * of a process, each of which would cost a start of the built program. Paths are absolute, since it has no folder of its own.
 */
export async function molarHere(
  words: readonly string[],
  env: Env = {},
  stdin: string | Uint8Array = '',
): Promise<Ended> {
  const { id, command, argv } = await commandOf(words);
  // A server that was to be refused and is not would go on, and keep the next tests from their folders.
  const signal = AbortSignal.timeout(LONGEST);
  const world = { env: { ...NOWHERE, ...cleanEnv(env) }, clock, openNetwork, newId: randomUUID, stdin, signal };
  const { exitCode, stdout, stderr } = await runCommand(id, command, argv, world);
  return { code: exitCode, stdout, stderr };
}

const HOME = process.cwd();
/** The folder of the commands that run now, and how many they are. */
let current = '';
let running = 0;

/** As `molarHere`, in a folder, which is that of this process meanwhile; only what is in the same folder runs at the same time. */
export async function molarIn(
  folder: string,
  words: readonly string[],
  env: Env = {},
  stdin: string | Uint8Array = '',
): Promise<Ended> {
  if (running > 0 && current !== folder) throw new Error(`A command is running in ${current}.`);
  current = folder;
  process.chdir(folder);
  running++;
  try {
    return await molarHere(words, env, stdin);
  } finally {
    running--;
    if (running === 0) process.chdir(HOME);
  }
}
