// Requests a second of a server on each store, with the same practice in both.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { importPractice, ownFolders } from './import.js';
import { machineText } from './machine.js';
import { writePractice } from './practice.js';
import { inFolder, say, watch, withServer } from './processes.js';
import { onStores } from './stores.js';

const SIZES = {
  small: { patients: 5_000, transactions: 20_000, seconds: 2 },
  large: { patients: 40_000, transactions: 160_000, seconds: 10 },
};
const CLIENTS = 64;
const RUNS = 3;

/** In this order: those that write come last, so that reading is measured on the practice as it was imported. */
const KINDS = ['get one', 'list 100', 'list 500', 'filtered list', 'count', 'post', 'mix'];

/** Measures a server on each store; answers whether every request was answered well. */
export function measureLoad(size) {
  if (!Object.hasOwn(SIZES, size)) throw new Error(`There is no size ${size}: take ${Object.keys(SIZES).join(', ')}.`);
  const { patients, transactions, seconds } = SIZES[size];
  return inFolder(async (folder, signal) => {
    say(await machineText(folder));
    say(
      `${CLIENTS} clients, keep-alive, in one process beside the server on this machine; medians of ${RUNS} runs of ${seconds} s`,
    );
    say(
      'Every write is durable before its answer: synchronous=FULL in SQLite, COMMIT in PostgreSQL with the settings told.',
    );
    say(
      'Tokens are checked; audit log, stream outbox and idempotency keys are written; the rate limit is off (--rate-limit 0).',
    );
    const file = join(folder, 'practice.ndjson');
    const practice = await writePractice(file, patients, transactions, signal);
    await onStores(folder, async ({ name, flags, env, bytes }) => {
      const own = { ...env, ...ownFolders(folder) };
      await importPractice({ name, flags, env: own, bytes }, file, practice);
      await withServer(['--rate-limit', '0', ...flags], own, async (url, server) => {
        for (const what of KINDS) {
          signal.throwIfAborted();
          const job = { url, server: server.child.pid, what, patients, clients: CLIENTS, seconds, runs: RUNS };
          say(`${name.padEnd(10)}  ${resultText(what, await runsOf(job))}`);
        }
        say(`${name.padEnd(10)}  the server took ${Math.round(server.peak)} MB at most`);
      });
    });
    return true;
  });
}

async function runsOf(job) {
  const script = resolve(import.meta.dirname, 'clients.js');
  const { child } = watch(
    spawn(process.execPath, [script, JSON.stringify(job)], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`The load ended with ${code}.`);
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The run with the median rate, and the rates of all. */
function resultText(what, runs) {
  const sorted = runs.toSorted((a, b) => a.rate - b.rate);
  const { rate, p50, p99, cores } = sorted[Math.floor(sorted.length / 2)];
  const rates = `${Math.round(sorted[0].rate)}–${Math.round(sorted.at(-1).rate)}`;
  const busy = ['server', 'load', 'machine']
    .map((name) => `${name} ${cores[name]?.toFixed(2) ?? 'unknown'}`)
    .join(', ');
  return `${what.padEnd(13)} ${String(Math.round(rate)).padStart(6)}/s (${rates}), p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; cores busy of ${cpus().length}: ${busy}`;
}
