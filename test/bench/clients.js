// The load of a measurement, in a process of its own: many clients at once, each with its next request as soon as the
// last one is answered. Reads a job as JSON from its first argument, and prints a line of JSON a run.
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { machineSeconds, processSeconds } from './machine.js';
import { FIRST, LOCATIONS, NEW_PATIENT, ORGANIZATION, TOKEN } from './practice.js';

const { url, server, what, patients, clients, seconds, runs } = JSON.parse(process.argv[2]);

const HEADERS = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION };
const below = (bound) => Math.floor(Math.random() * bound);
const patient = () => FIRST.patient + below(patients);
const get = (path) => ({ method: 'GET', path: `/api/v1/${path}`, headers: HEADERS });
const filtered = (path, filter, rest = '') => get(`${path}?filter=${encodeURIComponent(filter)}${rest}`);

/** Requests by their names; each call makes another one. */
const REQUESTS = {
  'get one': () => get(`patients/${patient()}`),
  'list 100': () => get(`patients?pageSize=100&lastId=${patient()}`),
  'list 500': () => get(`patients?pageSize=500&lastId=${patient()}`),
  'filtered list': () => filtered('transactions', `patient.id==${patient()},transactionDate>=2024-01-01`),
  count: () => filtered('patients/totalcount', `preferredLocation.id==${LOCATIONS[below(3)].id}`),
  post: () => ({
    method: 'POST',
    path: '/api/v1/patients',
    headers: { ...HEADERS, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: NEW_PATIENT,
  }),
  mix: () => REQUESTS[MIX[below(MIX.length)]](),
};

/** Of twenty requests of the mix. */
const MIX = [
  ...Array(10).fill('get one'),
  ...Array(4).fill('filtered list'),
  ...Array(2).fill('list 100'),
  'count',
  ...Array(3).fill('post'),
];

const pool = new Pool(url, { connections: clients, pipelining: 1 });

/** One client: requests one after another until the time is over; keeps how long each took, in milliseconds. */
async function client(until, times) {
  for (let began = performance.now(); began < until; began = performance.now()) {
    const { statusCode, body } = await pool.request(REQUESTS[what]());
    const text = statusCode < 300 ? await body.dump({ limit: 10_000_000 }) : await body.text();
    if (statusCode >= 300) throw new Error(`${what} was answered by ${statusCode}: ${text.slice(0, 300)}`);
    times.push(performance.now() - began);
  }
}

/** Seconds of processor time that the server, this process and the whole machine have used; undefined where nobody tells. */
function processorSeconds() {
  const { user, system } = process.cpuUsage();
  return { server: processSeconds(server), load: (user + system) / 1e6, machine: machineSeconds() };
}

async function run(length) {
  const times = [];
  const before = processorSeconds();
  const began = performance.now();
  await Promise.all(Array.from({ length: clients }, () => client(began + length * 1000, times)));
  const took = (performance.now() - began) / 1000;
  const after = processorSeconds();
  times.sort((a, b) => a - b);
  const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))];
  const cores = Object.fromEntries(Object.entries(after).map(([name, used]) => [name, (used - before[name]) / took]));
  return { rate: times.length / took, p50: at(0.5), p99: at(0.99), cores };
}

// Connections, prepared statements and compiled code are there before anything is measured.
await run(Math.max(1, seconds / 2));
for (let index = 0; index < runs; index++) process.stdout.write(`${JSON.stringify(await run(seconds))}\n`);
await pool.close();
