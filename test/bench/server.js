// Requests a second of a server that has one core: against the ceilings of that core, and against json-server.
import { deepStrictEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { canPin } from './cores.js';
import { withJsonServer } from './jsonserver.js';
import { withCeiling, withLoad } from './pinned.js';
import { FIRST, NEW_PATIENT } from './practice.js';
import { getPath, listPath, many, reads } from './reads.js';
import { HEADERS, requestText, withPractice } from './served.js';

const PATIENTS = 20_000;
/** json-server keeps all its records in one file, which it writes anew for each post. */
const FEW = 2_000;
const CONNECTIONS = 32;

/** Measures reads against the ceilings of a core, then every row against json-server on fewer records. */
export async function measure({ folder, signal, small, report }) {
  report.section(
    'Server, one core',
    `Requests a second of ${CONNECTIONS} connections, each answered before the next one${canPin ? '; servers on one core, the load on another' : ''}. Writes of the server are durable; auth, audit, outbox and rate limit are on, the limit above what is asked.`,
  );
  if (!canPin) report.note('Processes could not be bound to cores here: the servers may have used more than one.');
  const rounds = { count: small ? 3 : 9, milliseconds: small ? 400 : 1000, signal };
  await withPractice(join(folder, 'many'), { patients: small ? FEW : PATIENTS }, signal, (ours) =>
    againstCeilings(folder, ours, rounds, report),
  );
  await withPractice(join(folder, 'few'), { patients: FEW }, signal, (ours) =>
    againstJsonServer(folder, ours, rounds, report),
  );
}

function againstCeilings(folder, ours, rounds, report) {
  const { url, patients, database } = ours;
  return withCeiling(['rows', database], (rows) =>
    withCeiling(['hello'], async (hello) => {
      const bare = `http://127.0.0.1:${rows.port}`;
      for (const path of [listPath(100)(7), listPath(500)(patients - 3)]) {
        deepStrictEqual(await bodyOf(url + path), await bodyOf(bare + path));
      }
      const lists = [100, 500].map((size) => ({
        what: `list of ${size}`,
        ours: target(ours, reads(patients, HEADERS, listPath(size), size)),
        theirs: target(rows, reads(patients, HEADERS, listPath(size), size)),
        against: 'node:http, same rows joined',
      }));
      const get = {
        what: 'get one',
        ours: target(ours, reads(patients, HEADERS, getPath)),
        theirs: target(hello, [requestText('GET', '/', {})]),
        against: 'Fastify hello',
        miss: WHERE_A_GET_GOES,
      };
      await compare(folder, [...lists, get], rounds, report);
    }),
  );
}

/** As profiles of the server show it. */
const WHERE_A_GET_GOES =
  'What a get does beside saying hello, by profiles, the longest first: reading the record and asking whether anybody has written since the token was looked up, each a read transaction of SQLite; the audit entry, its hash chained to the one before it, and its row; the headers of every answer, which Node checks one by one; the hash of the token and the promises between the steps.';

const target = ({ port, pid }, requests) => ({ port, pid, connections: CONNECTIONS, requests });

/** Measures each pair of targets round by round in turn, warmed up first, and reports them. */
async function compare(folder, pairs, { count, milliseconds, signal }, report) {
  const targets = Object.fromEntries(
    pairs.flatMap(({ ours, theirs }, index) => [
      [`ours ${index}`, ours],
      [`theirs ${index}`, theirs],
    ]),
  );
  const found = Object.fromEntries(Object.keys(targets).map((name) => [name, { rates: [], costs: [] }]));
  await withLoad(folder, targets, async (run) => {
    for (const name of Object.keys(targets)) await run([name], milliseconds * 2, { awake: true });
    for (let round = 0; round < count; round++) {
      for (const name of Object.keys(targets)) {
        signal.throwIfAborted();
        const [{ rate, cost }] = await run([name], milliseconds, { awake: true });
        found[name].rates.push(rate);
        found[name].costs.push(cost);
      }
    }
  });
  for (const [index, { what, against, miss }] of pairs.entries()) {
    const [ours, theirs] = [found[`ours ${index}`], found[`theirs ${index}`]];
    const kept = report.ratio({ what, ours: ours.rates, theirs: theirs.rates, against, unit: '/s' });
    if (!kept && miss !== undefined) report.note(miss);
    // Where only Linux tells, and what other work on the machine hardly changes.
    if (ours.costs.every((cost) => cost > 0)) {
      const cost = { ours: ours.costs, theirs: theirs.costs, unit: 'µs', against, faster: true };
      report.ratio({ what: `${what}: processor time`, ...cost });
    }
  }
}

async function againstJsonServer(folder, ours, rounds, report) {
  const { url, patients } = ours;
  const all = await recordsOf(url, patients);
  await withJsonServer(join(folder, 'json-server'), { patients: all }, report, async (theirs) => {
    const theirUrl = `http://127.0.0.1:${theirs.port}`;
    const theirList = (size) => (at) => `/patients?_start=${at + 1}&_limit=${size}`;
    const theirGet = (at) => `/patients/${FIRST.patient + at}`;
    const parsed = async (address) => JSON.parse(await bodyOf(address));
    deepStrictEqual(await parsed(theirUrl + theirList(100)(7)), (await parsed(url + listPath(100)(7))).data);
    deepStrictEqual(await parsed(theirUrl + theirGet(7)), (await parsed(url + getPath(7))).data);
    const posts = (path, headers) =>
      many(() => requestText('POST', path, { ...headers, 'content-type': 'application/json' }, NEW_PATIENT));
    const row = (what, ourRequests, theirRequests) => ({
      what: `${what}, of ${patients.toLocaleString('en')} records`,
      ours: target(ours, ourRequests),
      theirs: target(theirs, theirRequests),
      against: 'json-server 0.17.4',
    });
    const read = (what, ourPath, theirPath, size) =>
      row(what, reads(patients, HEADERS, ourPath, size), reads(patients, {}, theirPath, size));
    const pairs = [
      read('list of 100', listPath(100), theirList(100), 100),
      read('list of 500', listPath(500), theirList(500), 500),
      read('get one', getPath, theirGet),
      // Last: what posts add must not be in the lists.
      row('post', posts('/api/v1/patients', HEADERS), posts('/patients', {})),
    ];
    const few = { ...rounds, count: Math.ceil(rounds.count / 2) };
    for (const pair of pairs) await compare(folder, [pair], few, report);
  });
}

async function bodyOf(address) {
  const answer = await fetch(address, { headers: HEADERS });
  if (!answer.ok) throw new Error(`${address} was answered by ${answer.status}.`);
  return answer.text();
}

/** All patients of a server, as it tells them. */
async function recordsOf(url, patients) {
  const records = [];
  while (records.length < patients) {
    const lastId = records.at(-1)?.id ?? 0;
    const { data } = JSON.parse(await bodyOf(`${url}/api/v1/patients?pageSize=500&lastId=${lastId}`));
    if (data.length === 0) throw new Error(`${records.length} of ${patients} patients were found.`);
    records.push(...data);
  }
  return records;
}
