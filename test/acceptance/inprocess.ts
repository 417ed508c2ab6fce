import { systemClock as clock } from '../../src/core/clock.ts';
import { openNetwork } from '../../src/core/transport/network.ts';
import { runCommand } from '../cli/runcommand.ts';
import { commandOf } from '../faithful/driving.ts';
import { cleanEnv, type Ended } from './molar.ts';

/**
 * Runs a command of the sources in this process, over real sockets and with real time: for tables of cases that ask nothing
 * of a process, each of which would cost a start of the built program. Paths are absolute, since it has no folder of its own.
 */
export async function molarHere(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const { id, command, argv } = await commandOf(words);
  const { exitCode, stdout, stderr } = await runCommand(id, command, argv, { env: cleanEnv(env), clock, openNetwork });
  return { code: exitCode, stdout, stderr };
}
