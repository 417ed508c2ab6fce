// What a second process of a server adds on a machine of two cores: reads and durable posts, on each store.
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { withLoad } from './pinned.js';
import { NEW_PATIENT, writePractice } from './practice.js';
import { textOf, withServer } from './processes.js';
import { getPath, listPath, many, reads } from './reads.js';
import { HEADERS, requestText } from './served.js';
import { onStores } from './stores.js';

const PATIENTS = 20_000;
const CONNECTIONS = 32;

const posts = () =>
  many(() => requestText('POST', '/api/v1/patients', { ...HEADERS, 'content-type': 'application/json' }, NEW_PATIENT));

/** Posts come last: what they add must not be in the lists. */
const KINDS = [
  { what: 'list of 100', requests: reads(PATIENTS, HEADERS, listPath(100), 100) },
  { what: 'get one', requests: reads(PATIENTS, HEADERS, getPath) },
  { what: 'post', requests: posts() },
];

const WORKERS = ['1', '2'];

/** Measures one worker and two round by round in turn, on a store of its own each. */
export async function measure({ folder, signal, small, report }) {
  const rounds = { count: small ? 3 : 9, milliseconds: small ? 600 : 1500, signal };
  report.section(
    'All cores: two workers against one',
    `Requests a second of ${CONNECTIONS} connections; the server, its load and PostgreSQL share the ${cpus().length} cores of this machine. Audit is strict, writes are durable. The processor time is that of the busiest process for each answer: what remains when every process has a core of its own.`,
  );
  const file = join(folder, 'practice.ndjson');
  await writePractice(file, PATIENTS, 0, signal);
  await onStores(folder, ({ name, flags, env }) =>
    onStores(join(folder, 'second'), async (second) => {
      if (second.name !== name) return;
      await withWorkers([{ flags, env }, second], file, (servers) => compare(folder, name, servers, rounds, report));
    }),
  );
}

/** Starts a server with one worker and one with two, each on a store with the practice. */
async function withWorkers([one, two], file, work) {
  for (const { flags, env } of [one, two]) await textOf(['server', 'import', file, ...flags], env);
  const args = (flags, at) => ['--rate-limit', '0', '--workers', WORKERS[at], ...flags];
  await withServer(args(one.flags, 0), one.env, (firstUrl, first) =>
    withServer(args(two.flags, 1), two.env, (secondUrl, second) =>
      work([
        { port: Number(new URL(firstUrl).port), pid: processesOf(first.child.pid) },
        { port: Number(new URL(secondUrl).port), pid: processesOf(second.child.pid) },
      ]),
    ),
  );
}

/** A process and those that it has started, where the system tells. */
function processesOf(pid) {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return [pid, ...children.split(' ').filter(Boolean).map(Number)];
  } catch {
    return [pid];
  }
}

async function compare(folder, store, servers, { count, milliseconds, signal }, report) {
  const names = KINDS.flatMap((_, kind) =>
    WORKERS.map((_workers, server) => ({ kind, server, name: `${kind} ${server}` })),
  );
  const targets = Object.fromEntries(
    names.map(({ kind, server, name }) => [
      name,
      { ...servers[server], connections: CONNECTIONS, requests: KINDS[kind].requests },
    ]),
  );
  const found = Object.fromEntries(names.map(({ name }) => [name, { rates: [], most: [] }]));
  await withLoad(folder, targets, async (run) => {
    // The first round only warms up.
    for (let round = 0; round <= count; round++) {
      for (const { name } of names) {
        signal.throwIfAborted();
        const [{ rate, most }] = await run([name], milliseconds);
        if (round === 0) continue;
        found[name].rates.push(rate);
        found[name].most.push(most);
      }
    }
  });
  for (const [kind, { what }] of KINDS.entries()) {
    const [alone, both] = [found[`${kind} 0`], found[`${kind} 1`]];
    const row = { what: `${what}, ${store}`, against: 'one worker' };
    report.ratio({ ...row, ours: both.rates, theirs: alone.rates, unit: '/s' });
    if (both.most.some((time) => !(time > 0)) || alone.most.some((time) => !(time > 0))) continue;
    const times = { ours: both.most, theirs: alone.most, unit: 'µs', faster: true };
    report.ratio({ ...row, what: `${row.what}: processor time`, ...times });
  }
}
