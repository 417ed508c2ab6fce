// How long molar takes to begin, as a ratio to a Node that does nothing, started in turn with it:
//   node test/bench/startup.js [ROUNDS]
// Writes to standard output only. Every write of the server is durable; auth, audit, outbox and rate limit are on.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const BIN = resolve(import.meta.dirname, '../../bin/run.js');
const [rounds = 25] = process.argv.slice(2).map(Number);
const IDLE_SECONDS = 5;

/** Largest ratios to `node -e 0`, and megabytes, that are accepted. */
const BUDGETS = { version: 1.6, help: 2, list: 2.5, ready: 12, megabytes: 120 };

/** Servers that run, ended with the measurement. */
const running = new Set();

const folder = mkdtempSync(join(tmpdir(), 'molar-startup-'));
try {
  process.exitCode = (await measure()) ? 0 : 1;
} finally {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}

async function measure() {
  // The first start fills the practice, which the others find there.
  const { url, child } = await serve('--demo', 'small');
  const env = connection(readFileSync(join(folder, 'demo.env'), 'utf8'), url);
  const floor = ['node -e 0', process.execPath, ['-e', '0']];
  const runs = [
    floor,
    ['molar --version', process.execPath, [BIN, '--version'], BUDGETS.version],
    ['molar patients list --help', process.execPath, [BIN, 'patients', 'list', '--help'], BUDGETS.help],
    ['molar patients list --limit 1', process.execPath, [BIN, 'patients', 'list', '--limit', '1'], BUDGETS.list],
    ...['gh', 'heroku'].filter(isThere).map((name) => [`${name} --version`, name, ['--version']]),
  ];
  const commands = await inTurn(runs, (program, args) => finished(program, args, env));
  await ended(child);
  const servers = await inTurn([floor, ['molar serve, until ready', 'serve', [], BUDGETS.ready]], (program, args) =>
    program === 'serve' ? readiness() : finished(program, args, env),
  );
  return [commands, servers, await idleMemory()].every((kept) => kept);
}

/** Runs each once a round, so that what else the machine does meets all of them; tells medians, spread and ratios. */
async function inTurn(runs, once) {
  const times = runs.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, [, program, args]] of runs.entries()) times[at].push(await once(program, args));
  }
  const [floor] = times;
  const kept = runs.map(([name, , , budget], at) => {
    const ratios = times[at].map((time, round) => time / floor[round]);
    const ratio = quantile(times[at], 0.5) / quantile(floor, 0.5);
    const spread = `${quantile(ratios, 0.25).toFixed(2)} to ${quantile(ratios, 0.75).toFixed(2)}`;
    const time = `${quantile(times[at], 0.5).toFixed(0)} ms (${quantile(times[at], 0).toFixed(0)} at best)`;
    say(name, time, at === 0 ? '' : `${ratio.toFixed(2)}x, half of the rounds ${spread}`, ratio, budget, 'x');
    return budget === undefined || ratio <= budget;
  });
  return kept.every((each) => each);
}

function say(name, measured, ratio, value, budget, unit) {
  const verdict = budget === undefined ? '' : `${value <= budget ? 'within' : 'MISSES'} ${budget}${unit}`;
  process.stdout.write(`${name.padEnd(32)} ${measured.padEnd(24)} ${ratio.padEnd(40)} ${verdict}`.trimEnd());
  process.stdout.write('\n');
}

function quantile(values, share) {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)];
}

function finished(program, args, env) {
  const began = performance.now();
  const { status, error } = spawnSync(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${status ?? error?.message}.`);
  return performance.now() - began;
}

function isThere(program) {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
}

async function serve(...args) {
  const given = ['serve', '--port', '0', '--json', '--log-level', 'error', '--data', folder, ...args];
  const child = spawn(process.execPath, [BIN, ...given], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  child.once('close', () => running.delete(child));
  const [line] = await once(child.stdout, 'data');
  return { child, url: JSON.parse(line).url };
}

async function readiness() {
  const began = performance.now();
  const { child } = await serve();
  const took = performance.now() - began;
  await ended(child);
  return took;
}

async function ended(child) {
  child.kill('SIGTERM');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
}

/** Memory of a server that has nothing to do, a while after it began; told by Linux only. */
async function idleMemory() {
  if (process.platform !== 'linux') return true;
  const { child } = await serve();
  await sleep(IDLE_SECONDS * 1000);
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  await ended(child);
  const megabytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
  say('molar serve, idle memory', `${megabytes.toFixed(0)} MB`, '', megabytes, BUDGETS.megabytes, ' MB');
  return megabytes <= BUDGETS.megabytes;
}

/** The environment of a client of the demo practice, from the file that the server writes for shells. */
function connection(text, url) {
  const pairs = [...text.matchAll(/^(?:export )?(MOLAR_\w+)='?([^'\n]*)'?$/gm)].map(([, name, value]) => [name, value]);
  return { ...process.env, ...Object.fromEntries(pairs), MOLAR_URL: url };
}
