// Runs vitest as every command of this repository does: from its root, with its files in memory where there is room.
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { temporaryFolder } from './memory.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');

/** What does not drive the built program, each file once: on SQLite where it has a store. */
export const IN_PROCESS = ['--project', 'unit', '--project', 'integration'];

/** Runs a Node program to its end, and gives its exit code; `env` is for what is not set already; `own` overrides what is. */
export function node(args, env = {}, own = {}) {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env: { ...env, ...process.env, ...own } });
  return new Promise((ended) => child.once('exit', (code) => ended(code ?? 1)));
}

/** Runs tests, and gives the exit code; `env` is for what is not set already; `own` overrides what is. */
export function vitest(args, env = {}, own = {}) {
  return node([VITEST, 'run', ...args], { ...temporaryFolder(), ...env }, own);
}
