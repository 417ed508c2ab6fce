// What a piece of work costs a processor: instructions where the machine counts them, which hardly differ from one run to
// the next; else processor time, which other work on the machine changes far less than it changes the time on the clock.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { processSeconds } from './machine.js';

const EVENT = 'instructions:u';
const USAGE = pathToFileURL(join(import.meta.dirname, 'usage.js')).href;

/** Whether perf counts an event here: virtual machines often have no counters. */
export function canCount(event) {
  const { status, stderr } = spawnSync('perf', ['stat', '-x,', '-e', event, 'true'], { encoding: 'utf8' });
  return status === 0 && counted(stderr) > 0;
}

const counts = canCount(EVENT);

/** In what costs are told. */
export const UNIT = counts
  ? { name: 'instructions', explained: 'The cost is that in instructions, as perf counts them.' }
  : { name: 'processor', explained: 'The cost is processor time, since this machine counts no instructions.' };

/** The number in what perf wrote; NaN where it counted nothing. */
export function counted(text) {
  return Number.parseFloat(text.split('\n').find((line) => /^[\d.]+,/.test(line)) ?? '');
}

/** Runs Node to its end, which must be a good one; `folder` takes what is written down meanwhile. */
export async function costOfProcess(args, env, folder) {
  const file = join(folder, 'cost');
  const command = counts
    ? ['perf', 'stat', '-x,', '-e', EVENT, '-o', file, process.execPath, ...args]
    : [process.execPath, '--import', USAGE, ...args];
  const began = performance.now();
  const child = spawn(command[0], command.slice(1), {
    env: { ...env, MOLAR_BENCH_USAGE: file },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Error(`molar ${args.slice(1, 3).join(' ')} ended with ${code ?? signal}.`);
  const seconds = (performance.now() - began) / 1000;
  const text = readFileSync(file, 'utf8');
  rmSync(file);
  return { seconds, cost: counts ? counted(text) : Number(text) };
}

/** What a process that goes on costs while some work is done. */
export async function costOfRunning(pid, folder, work) {
  const file = join(folder, 'cost');
  const perf = counts
    ? spawn('perf', ['stat', '-x,', '-e', EVENT, '-o', file, '-p', String(pid)], { stdio: 'ignore' })
    : undefined;
  const before = processSeconds(pid);
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1000;
  if (perf === undefined) return { seconds, cost: processSeconds(pid) - before };
  perf.kill('SIGINT');
  await once(perf, 'close');
  return { seconds, cost: counted(readFileSync(file, 'utf8')) };
}
