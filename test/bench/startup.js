// How long molar takes to begin, against a Node that does nothing, started in turn with it; and its idle memory.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BIN, demoEnvironment, withServer } from './processes.js';

const IDLE_SECONDS = 5;
const NODE = process.execPath;

/** Measures commands, the readiness of a server on an existing database, and its memory. */
export async function measure({ folder, signal, small, report }) {
  const rounds = small ? 5 : 25;
  const data = ['--data', join(folder, 'data')];
  report.section(
    'Start-up',
    'Standard output and terminal are not attached. Writes of the server are durable; auth, audit, outbox and rate limit are on.',
  );
  // The first start fills the practice, which the others find there.
  await withServer([...data, '--demo', 'small'], {}, async (url) => {
    const env = { ...process.env, ...demoEnvironment(data[1]), MOLAR_URL: url };
    const molar =
      (...args) =>
      () =>
        finished(NODE, [BIN, ...args], env);
    const runs = {
      'molar --version': [molar('--version'), { atMost: 1.6 }],
      'molar patients list --help': [molar('patients', 'list', '--help'), { atMost: 2 }],
      'molar patients list --limit 1': [molar('patients', 'list', '--limit', '1'), { atMost: 2.5 }],
    };
    for (const other of ['gh', 'heroku']) {
      if (isThere(other)) runs[`${other} --version`] = [() => finished(other, ['--version'], env), undefined];
      else report.note(`${other} is left out: it is not installed here.`);
    }
    await againstNode(report, rounds, runs, signal);
  });
  const ready = async () => {
    const began = performance.now();
    return withServer(data, {}, async () => performance.now() - began);
  };
  await againstNode(report, small ? 3 : 11, { 'molar serve, until ready': [ready, { atMost: 12 }] }, signal);
  await withServer(data, {}, async (_, { child }) => {
    if (process.platform !== 'linux') return report.note('Idle memory is left out: only Linux tells it.');
    await sleep(IDLE_SECONDS * 1000);
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]);
    return report.value({ what: 'molar serve, idle', values: [kilobytes / 1024], unit: 'MB', budget: { atMost: 120 } });
  });
}

async function againstNode(report, rounds, runs, signal) {
  const theirs = [];
  const ours = Object.fromEntries(Object.keys(runs).map((what) => [what, []]));
  for (let round = 0; round < rounds; round++) {
    signal.throwIfAborted();
    theirs.push(finished(NODE, ['-e', '0'], process.env));
    for (const [what, [once]] of Object.entries(runs)) ours[what].push(await once());
  }
  for (const [what, [, budget]] of Object.entries(runs)) {
    report.ratio({ what, ours: ours[what], theirs, against: 'node -e 0', unit: 'ms', budget });
  }
}

/** Milliseconds that a program takes to its end, which must be a good one. */
function finished(program, args, env) {
  const began = performance.now();
  const { status, error } = spawnSync(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${status ?? error?.message}.`);
  return performance.now() - began;
}

function isThere(program) {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
}
