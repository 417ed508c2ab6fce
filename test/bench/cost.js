// What a piece of work costs a processor: instructions where the machine counts them, which hardly differ from one run to
// the next; else processor time, which other work on the machine changes far less than it changes the time on the clock.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { countSeconds } from './machine.js';
import { startGroup, track } from './processes.js';

/** In user mode only: to count the kernel, perf needs a right that few machines give. */
const STAT = ['stat', '-x,', '-e', 'instructions:u'];
const USAGE = pathToFileURL(join(import.meta.dirname, 'usage.js')).href;

let isCounting;

/** Whether perf counts instructions here: virtual machines often have no counters. It is tried once, by the first who asks. */
function countsInstructions() {
  if (isCounting === undefined) {
    const { status, stderr } = spawnSync('perf', [...STAT, 'true'], { encoding: 'utf8' });
    isCounting = status === 0 && counted(stderr) > 0;
  }
  return isCounting;
}

/** The unit of costs. */
export function unit() {
  return countsInstructions()
    ? {
        name: 'instructions',
        explained: 'Costs are instructions in user mode, counted by perf; work of the kernel is not counted.',
      }
    : { name: 'processor', explained: 'Costs are processor time, since this machine counts no instructions.' };
}

/** The number in what perf wrote, 0 where it counted nothing; a machine with two kinds of cores has a line for each kind. */
function counted(text) {
  const lines = text.split('\n').filter((line) => /^\d+,/.test(line));
  return lines.reduce((sum, line) => sum + Number.parseInt(line, 10), 0);
}

/** A cost that was not measured must not pass for one: compared with anything, it would show no difference. */
function measured(cost, what) {
  if (Number.isFinite(cost) && cost > 0) return cost;
  throw new Error(`The cost of ${what} could not be measured: it came out as ${cost}.`);
}

/** Runs Node to its end, which must be a good one; `folder` takes what is written down meanwhile. */
export async function costOfProcess(args, env, folder) {
  const file = join(folder, 'cost');
  const [program, ...rest] = countsInstructions()
    ? ['perf', ...STAT, '-o', file, process.execPath, ...args]
    : [process.execPath, '--import', USAGE, ...args];
  const what = `molar ${args.slice(1, 3).join(' ')}`;
  const began = performance.now();
  const child = startGroup(program, rest, {
    env: { ...process.env, ...env, MOLAR_BENCH_USAGE: file },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Error(`${what} ended with ${code ?? signal}.`);
  const seconds = (performance.now() - began) / 1000;
  const text = readFileSync(file, 'utf8');
  rmSync(file);
  return { seconds, cost: measured(countsInstructions() ? counted(text) : Number(text), what) };
}

/** What a process that goes on costs while some work is done. */
export async function costOfRunning(pid, folder, work) {
  const stop = countsInstructions() ? await countInstructions(pid, join(folder, 'cost')) : countSeconds(pid);
  let seconds;
  let cost;
  try {
    const began = performance.now();
    await work();
    seconds = (performance.now() - began) / 1000;
  } finally {
    cost = await stop();
  }
  return { seconds, cost: measured(cost, `process ${pid}, which only Linux tells while it runs,`) };
}

/** Begins to count the instructions of a process; answers a function that ends this and gives their number. */
async function countInstructions(pid, file) {
  // perf attaches with counting off, and does what it reads on descriptor 0: its answer on 1 tells that counting is on.
  const args = [...STAT, '-o', file, '-p', String(pid), '--delay=-1', '--control=fd:0,1'];
  const perf = track(spawn('perf', args, { stdio: ['pipe', 'pipe', 'ignore'] }));
  const closed = once(perf, 'close');
  // Where perf has ended already, this write fails, and `closed` tells so.
  perf.stdin.on('error', () => {});
  perf.stdin.write('enable\n');
  const isOn = await Promise.race([once(perf.stdout, 'data').then(() => true), closed.then(() => false)]);
  if (!isOn) throw new Error(`perf could not be attached to process ${pid}.`);
  return async () => {
    // It writes its file when it is interrupted.
    perf.kill('SIGINT');
    await closed;
    return counted(readFileSync(file, 'utf8'));
  };
}
