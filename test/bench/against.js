// `npm run bench -- --against COMMIT`: what this checkout and another commit cost for the same work, in turn, so that a
// difference of a few parts in a hundred shows on a machine that is busy with other things.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Pool } from 'undici';
import { costOfProcess, costOfRunning, unit } from './cost.js';
import { ownFolders } from './import.js';
import { FIRST, NEW_PATIENT, TOKEN, writePractice } from './practice.js';
import { BIN, finish, say, startGroup, withServer } from './processes.js';
import { getPath, listPath } from './reads.js';
import { digits, judge, summary } from './results.js';
import { HEADERS } from './served.js';

const ROOT = resolve(import.meta.dirname, '../..');

const SIZES = {
  small: { patients: 500, requests: 200, rounds: 5 },
  full: { patients: 5000, requests: 2000, rounds: 15 },
};

/** Each sends its requests one after another, over a connection of its own. */
const CLIENTS = 8;

/** Requests to a server; `at` is the place of a patient in the practice. */
const REQUESTS = {
  get: (at) => ({ method: 'GET', path: getPath(at) }),
  list: (at) => ({ method: 'GET', path: listPath(100)(at) }),
  filter: (at) => ({
    method: 'GET',
    path: `/api/v1/transactions?filter=${encodeURIComponent(`patient.id==${FIRST.patient + at}`)}`,
  }),
  post: () => ({ method: 'POST', path: '/api/v1/patients', body: NEW_PATIENT }),
};

/** Runs of molar, each from its start to its end; `place` is a folder that a round has for itself. */
const COMMANDS = {
  start: () => ['--version'],
  export: () => ['patients', 'list', '--csv'],
  mirror: ({ place }) => ['mirror', 'sync', 'patients', 'transactions', '--to', join(place, 'mirror.db')],
  import: ({ place, file }) => ['server', 'import', file, '--data', join(place, 'data')],
};

/** All that is measured, by name. */
const WORK = [...Object.keys(COMMANDS), ...Object.keys(REQUESTS)];

/** Returns true if no regression was shown. `names`: which kinds of WORK; empty for all. */
export async function compareWith(commit, names, { folder, signal, small }) {
  const unknown = names.find((name) => !WORK.includes(name));
  if (unknown !== undefined) throw new Error(`There is no work ${unknown}: take ${WORK.join(', ')}.`);
  const size = small ? SIZES.small : SIZES.full;
  const other = await buildOf(commit, join(folder, 'build'));
  const file = join(folder, 'practice.ndjson');
  await writePractice(file, size.patients, 4 * size.patients, signal);
  say(`\nEach round does the same with ${other.name} and with this checkout. ${unit().explained}`);
  const results = await withBuild(BIN, join(folder, 'ours'), file, (ours) =>
    withBuild(other.bin, join(folder, 'theirs'), file, (theirs) =>
      measureAll([ours, theirs], names, { ...size, folder, file, signal }),
    ),
  );
  return results.every(({ isRegression }) => !isRegression);
}

/** Another commit, as it is in git, built in a folder of its own. */
async function buildOf(commit, folder) {
  const git = (...args) => execFileSync('git', args, { cwd: ROOT, maxBuffer: 2 ** 30 });
  let hash;
  try {
    hash = git('rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{commit}`).toString().trim();
  } catch {
    throw new Error(`git has no commit ${commit}.`);
  }
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-x', '-C', folder], { input: git('archive', hash) });
  const [ours, theirs] = [ROOT, folder].map((root) => readFileSync(join(root, 'package-lock.json'), 'utf8'));
  // What npm would install again is there already.
  if (ours === theirs) symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
  const options = { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] };
  const [status] = await once(startGroup(process.execPath, ['bin/prepare.mjs'], options), 'close');
  if (status !== 0) throw new Error(`${commit} cannot be built.`);
  return { name: `commit ${hash.slice(0, 10)}`, bin: join(folder, 'bin', 'run.js') };
}

/** Does the work while a build serves the practice of a file from a folder of its own. */
async function withBuild(bin, folder, file, work) {
  const data = join(folder, 'data');
  const env = ownFolders(folder);
  await finish(['server', 'import', file, '--data', data], env, () => {}, bin);
  const serve = async (url, { child }) => {
    const pool = new Pool(url, { connections: CLIENTS });
    try {
      return await work({ bin, env, url, pool, pid: child.pid });
    } finally {
      await pool.close();
    }
  };
  return withServer(['--data', data, '--rate-limit', '1000000', '--audit', 'buffered'], env, serve, bin);
}

async function measureAll(builds, names, world) {
  const results = [];
  for (const name of names.length > 0 ? names : WORK) {
    const measure = Object.hasOwn(COMMANDS, name) ? costOfCommand : costOfRequests;
    const [cost, seconds] = [[], []];
    // The first round warms up. Whoever comes first in one round comes last in the next.
    for (let round = -1; round < world.rounds; round++) {
      world.signal.throwIfAborted();
      const found = new Map();
      for (const build of round % 2 === 0 ? builds : builds.toReversed()) {
        found.set(build, await measure(name, build, builds[0], world));
      }
      if (round < 0) continue;
      const [ours, theirs] = builds.map((build) => found.get(build));
      cost.push(ours.cost / theirs.cost);
      seconds.push(ours.seconds / theirs.seconds);
    }
    const result = judge(cost);
    results.push(result);
    const wall = `time ${digits(summary(seconds).median)}×`;
    say(
      `${name.padEnd(8)}  ${unit().name} ${digits(result.median)}×  ${digits(result.low)}–${digits(result.high)}×  ${wall.padEnd(12)}  ${result.verdict}`,
    );
  }
  return results;
}

async function costOfCommand(name, { bin, env }, { url }, { folder, file }) {
  const place = join(folder, 'place');
  mkdirSync(place);
  try {
    // Clients are measured against one server, so that only they differ.
    const connection = { MOLAR_URL: url, MOLAR_ORGANIZATION: HEADERS['organization-id'], MOLAR_TOKEN: TOKEN };
    return await costOfProcess([bin, ...COMMANDS[name]({ place, file })], { ...env, ...connection }, place);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function costOfRequests(name, { pool, pid }, _, world) {
  const headers = { ...HEADERS, 'content-type': 'application/json' };
  let next = 0;
  const client = async () => {
    for (let number = next++; number < world.requests; number = next++) {
      // 7919 is prime: requests one after another are for patients that are far apart.
      const request = REQUESTS[name]((number * 7919) % world.patients);
      const { statusCode, body } = await pool.request({ ...request, headers });
      if (statusCode >= 300) throw new Error(`${name} was answered by ${statusCode}: ${await body.text()}`);
      await body.dump({ limit: 100_000_000 });
    }
  };
  return costOfRunning(pid, world.folder, () => Promise.all(Array.from({ length: CLIENTS }, client)));
}
