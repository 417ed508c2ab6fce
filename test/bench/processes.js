// The molar processes of the measurements: started, watched, and ended with the measurement.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

/** The molar of this checkout. */
export const BIN = resolve(import.meta.dirname, '../../bin/run.js');
const SAMPLE_MILLISECONDS = 200;

/** What still runs, each with the function that sends it a signal. */
const running = new Map();

export const say = (text) => process.stdout.write(`${text}\n`);

/** Does the work in a folder of its own, and removes it and ends what was started, also when it is interrupted. */
export async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'molar-bench-'));
  const interrupted = new AbortController();
  const stop = () => {
    interrupted.abort(new Error('Interrupted.'));
    signalAll('SIGTERM');
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  try {
    return await work(folder, interrupted.signal);
  } finally {
    process.removeListener('SIGINT', stop);
    process.removeListener('SIGTERM', stop);
    signalAll('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

function signalAll(signal) {
  for (const send of running.values()) send(signal);
}

/** Lets a child be ended with the measurement, should it still run then. */
export function track(child, send = (signal) => child.kill(signal)) {
  running.set(child, send);
  child.once('close', () => running.delete(child));
  return child;
}

/**
 * Starts a program that starts others, in a process group of its own, and tracks it. Such programs, perf for one, do not
 * pass a signal on, so the whole group is killed.
 */
export function startGroup(program, args, options) {
  const child = spawn(program, args, { ...options, detached: true });
  return track(child, () => process.kill(-child.pid, 'SIGKILL'));
}

/** Starts molar, and watches how much memory it takes: `megabytes` may be set to 0 to begin again, `peak` is of all its life. */
export function start(args, options, bin = BIN) {
  return watch(spawn(process.execPath, [bin, ...args], options));
}

export function watch(child) {
  const watched = { child, megabytes: 0, peak: 0 };
  const look = () => {
    const { now, peak } = memoryOf(child.pid);
    watched.megabytes = Math.max(watched.megabytes, now);
    watched.peak = Math.max(watched.peak, peak);
  };
  const timer = setInterval(look, SAMPLE_MILLISECONDS);
  track(child);
  child.once('close', () => clearInterval(timer));
  return watched;
}

/** Megabytes that a process holds in memory, and held at most; 0 when it has gone. */
function memoryOf(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const of = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024;
    return { now: of('VmRSS'), peak: of('VmHWM') };
  } catch {
    // No such folder outside Linux, where only what is now can be asked.
    const now = Number(quietly('ps', ['-o', 'rss=', '-p', String(pid)])) / 1024;
    return { now, peak: now };
  }
}

function quietly(program, args) {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    // The process is gone; its end is awaited elsewhere.
    return '0';
  }
}

/** Runs molar, that of `bin`, to its end, which must be a good one; `read` takes the chunks of its standard output. */
export async function finish(args, env, read, bin = BIN) {
  const began = performance.now();
  const watched = start(args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] }, bin);
  watched.child.stdout.on('data', read);
  const [code, signal] = await once(watched.child, 'close');
  if (code !== 0) throw new Error(`molar ${args.slice(0, 2).join(' ')} ended with ${code ?? signal}.`);
  return { seconds: (performance.now() - began) / 1000, peak: watched.peak };
}

/** Runs molar to its end and answers its standard output as text beside what it took. */
export async function textOf(args, env) {
  const chunks = [];
  const took = await finish(args, env, (chunk) => chunks.push(chunk));
  return { ...took, text: Buffer.concat(chunks).toString('utf8') };
}

/**
 * Does the work with a server, which is ended after it; the work gets its address and the watched process. `bin`: of the
 * molar that serves.
 */
export async function withServer(args, env, work, bin = BIN) {
  const options = { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] };
  const server = start(['serve', '--port', '0', '--json', '--log-level', 'error', ...args], options, bin);
  try {
    return await work(await listening(server.child), server);
  } finally {
    server.child.kill('SIGTERM');
    if (server.child.exitCode === null && server.child.signalCode === null) await once(server.child, 'close');
  }
}

async function listening(child) {
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line).url;
  throw new Error('The server ended before it listened.');
}

/** MOLAR_URL, MOLAR_ORGANIZATION and MOLAR_TOKEN of the demo practice that a server keeps in a data folder. */
export function demoEnvironment(data) {
  const text = readFileSync(join(data, 'demo.env'), 'utf8');
  return Object.fromEntries([...text.matchAll(/^export (\w+)='([^']*)'$/gm)].map(([, name, value]) => [name, value]));
}
