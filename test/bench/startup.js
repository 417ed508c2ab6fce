// How long molar takes to begin, against a Node that does nothing, started in turn with it; and its idle memory.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetched } from './fetched.js';
import { BIN, demoEnvironment, withServer } from './processes.js';

const IDLE_SECONDS = 5;

/** What makes every Node begin later, ours and the floor: certificates to read, modules to load. */
const SLOWING = ['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS'];
const NODE = process.execPath;
const HEROKU = '11.10.0';

/** Measures commands, the readiness of a server on an existing database, and its memory. */
export async function measure({ folder, signal, small, report }) {
  const rounds = small ? 5 : 25;
  const data = ['--data', join(folder, 'data')];
  const bare = Object.fromEntries(Object.entries(process.env).filter(([name]) => !SLOWING.includes(name)));
  const slowing = SLOWING.filter((name) => process.env[name] !== undefined);
  report.section('Start-up', `${CONDITIONS} What an earlier run has compiled is kept, as it is for people.`);
  const path = fetched(join(folder, 'heroku'), 'heroku', HEROKU, report);
  const heroku = path && join(path, 'bin/run.js');
  // The first start fills the practice, which the others find there.
  await withServer([...data, '--demo', 'small'], {}, async (url) => {
    const connection = { ...demoEnvironment(data[1]), MOLAR_URL: url };
    await againstNode(report, rounds, bare, commands(report, connection, heroku), signal);
    if (slowing.length === 0) return;
    report.section(`Start-up with ${slowing.join(' and ')}`, `As above, in the environment of this machine as it is.`);
    await againstNode(report, rounds, process.env, commands(report, connection, heroku), signal);
  });
  report.section('Readiness and memory of a server', CONDITIONS);
  const ready = async () => {
    const began = performance.now();
    return withServer(data, {}, async () => performance.now() - began);
  };
  await againstNode(report, small ? 3 : 11, process.env, { 'molar serve, until ready': ready }, signal);
  await withServer(data, {}, async (_, { child }) => {
    if (process.platform !== 'linux') return report.note('Idle memory is left out: only Linux tells it.');
    await sleep(IDLE_SECONDS * 1000);
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]);
    return report.value({ what: 'molar serve, idle', values: [kilobytes / 1024], unit: 'MB' });
  });
}

const CONDITIONS = 'Output goes nowhere. Writes of the server are durable; auth, audit, outbox and rate limit are on.';

const WHERE =
  'A profile: what a list takes beyond Node goes to undici, which is loaded, compiles its parser of answers and sends the request (about half), to what is used of Node (streams, sockets), to reading the compiled code that is kept between runs, and to the catalog and the parser of flags. A socket alone that sends the same request and prints the answer takes 1.4× the time of Node, the same through undici 2.2×.';

/** Without what it would send of its use. */
const unobserved = (env) => ({ ...env, DISABLE_TELEMETRY: 'true' });

function commands(report, connection, heroku) {
  const molar =
    (...args) =>
    (env) =>
      finished(NODE, [BIN, ...args], { ...env, ...connection });
  const runs = {
    'molar --version': molar('--version'),
    'molar patients list --help': molar('patients', 'list', '--help'),
    'molar patients list --limit 1': molar('patients', 'list', '--limit', '1'),
  };
  if (isThere('gh')) runs['gh --version'] = (env) => finished('gh', ['--version'], env);
  else report.note('gh is left out: it is not installed here.');
  if (heroku !== undefined) runs['heroku --version'] = (env) => finished(NODE, [heroku, '--version'], unobserved(env));
  return runs;
}

async function againstNode(report, rounds, env, runs, signal) {
  const theirs = [];
  const ours = Object.fromEntries(Object.keys(runs).map((what) => [what, []]));
  for (let round = 0; round < rounds; round++) {
    signal.throwIfAborted();
    theirs.push(finished(NODE, ['-e', '0'], env));
    for (const [what, once] of Object.entries(runs)) ours[what].push(await once(env));
  }
  let kept = true;
  for (const what of Object.keys(runs)) {
    kept = report.ratio({ what, ours: ours[what], theirs, against: 'node -e 0', unit: 'ms' }) && kept;
  }
  if (!kept) report.note(WHERE);
}

/** Milliseconds that a program takes to its end, which must be a good one. */
function finished(program, args, env) {
  const began = performance.now();
  const { status, error, stderr } = spawnSync(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  if (status !== 0)
    throw new Error(`${[program, ...args].join(' ')} ended with ${status ?? error?.message}. ${stderr}`);
  return performance.now() - began;
}

function isThere(program) {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
}
