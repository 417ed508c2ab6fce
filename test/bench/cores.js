// Work on a core of its own: what is measured on the first, what loads it on the second, where the system can say so.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

/** Core of a server, or of what is compared with it; its load takes the other one. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

/** Whether processes can be bound to cores here: only Linux does it, and one core cannot be shared out. */
export const canPin = cpus().length > 1 && spawnSync('taskset', ['--version'], { stdio: 'ignore' }).status === 0;

/** How cores were shared, for the conditions of a section. */
export const coresText = canPin
  ? 'what is measured on one core, its load on another'
  : 'cores are not divided: this system cannot pin processes, or has one core only';

/** Keeps a running process with all its threads, and those that they start, on a core. */
export function pin(pid, core) {
  if (canPin) execFileSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' });
}

/** Runs a script of this folder on a core to its end; answers the line of JSON that it prints. */
export async function runOn(core, script, args, { signal } = {}) {
  const command = [process.execPath, resolve(import.meta.dirname, script), ...args];
  const [program, ...rest] = canPin ? ['taskset', '-c', String(core), ...command] : command;
  const { stdout } = await promisify(execFile)(program, rest, { signal });
  return JSON.parse(stdout);
}
