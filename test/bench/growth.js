// What requests cost as a practice grows from a thousand patients to a million: one server a size, asked in turn.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'undici';
import { Database } from './driver.js';
import { enlarge, takeOver } from './enlarge.js';
import { measureHeld } from './held.js';
import { ownFolders } from './import.js';
import { FIRST, LOCATIONS, ORGANIZATION, TOKEN, writePractice } from './practice.js';
import { finish, withServer } from './processes.js';

/** The smallest practice; the others are so many times as large. */
const BASE = { patients: 1000, transactions: 2000 };
const SIZES = [1, 50, 1000];
/** Requests of a kind that are sent to a server in one round, one after another. */
const BATCH = 20;

const below = (bound) => Math.floor(Math.random() * bound);
const filtered = (path, filter, rest = '') => `${path}?filter=${encodeURIComponent(filter)}${rest}`;
const anyone = (patients) => FIRST.patient + below(patients);
const lastPage = (patients) => `patients?pageSize=100&lastId=${FIRST.patient + patients - 101}`;

const changes = (filter, rest = '&lastId=0') => filtered('patients', filter, rest);

/** Requests that answer equally many records at every size; those that pick one pick it from all there are. */
const SAME_ANSWER = {
  'first page, 100 patients': () => 'patients?pageSize=100&lastId=0',
  'last page, 100 patients': lastPage,
  'any page, 100 patients': (patients) => `patients?pageSize=100&lastId=${FIRST.patient + below(patients - 100) - 1}`,
  'get one patient': (patients) => `patients/${anyone(patients)}`,
  'list by guarantor, 3 patients': (patients) =>
    filtered('patients', `primaryGuarantor.id==${FIRST.patient + 3 * below(333) + 1000 * below(patients / 1000)}`),
  'list by e-mail address, 1 patient': (patients) =>
    filtered('patients', `emailAddress==patient${below(patients)}@example.com`),
  'list by patient, 2 transactions': (patients) =>
    filtered('transactions', `patient.id==${anyone(patients)},transactionDate>=0001-01-01`),
  'list by change date, 100 patients of many': () =>
    filtered('patients', 'lastModified>=2025-07-01T00:00:00Z', '&pageSize=100&lastId=0'),
  'changes since a time, none': () => changes('lastModified>=2030-01-01T00:00:00Z'),
  'changes since a time, 100 patients': (_, { since }) => changes(`lastModified>=${since}`, '&pageSize=100&lastId=0'),
  'changes since a time, 20 of nearly all patients': () =>
    changes('lastModified>=2016-01-01T00:00:00Z', '&pageSize=20&lastId=0'),
  'changes before a time, 20 of the last 2 % of the patients': () =>
    changes('lastModified<2016-01-01T00:00:00Z', '&pageSize=20&lastId=0'),
  'changes at a location since a time, none': () =>
    changes(`preferredLocation.id==${LOCATIONS[0].id},lastModified>=2030-01-01T00:00:00Z`),
  'count by guarantor, 3': (patients) =>
    filtered(
      'patients/totalcount',
      `primaryGuarantor.id==${FIRST.patient + 3 * below(333) + 1000 * below(patients / 1000)}`,
    ),
  'count of all, asked again': () => 'patients/totalcount',
  'count of a location, asked again': () => filtered('patients/totalcount', `preferredLocation.id==${LOCATIONS[0].id}`),
  'aging page, 1,000 transactions': () => filtered('agingbalances/report', 'location.id==ALL,page==1'),
  'last full aging page, 1,000 transactions': (_, { agingPages }) =>
    filtered('agingbalances/report', `location.id==ALL,page==${agingPages}`),
};

/** Counts right after a write of what they count, so that no number is cached. */
const COUNTS = {
  'count of all patients, after a write': () => 'patients/totalcount',
  'count of a third of them, after a write': () =>
    filtered('patients/totalcount', `preferredLocation.id==${LOCATIONS[0].id}`),
  'count of changes since a time, 100, after a write': (_, { since }) =>
    filtered('patients/totalcount', `lastModified>=${since},lastModified<2026-01-15T00:00:00Z`),
  'count of changes since a time, nearly all, after a write': () =>
    filtered('patients/totalcount', 'lastModified>=2016-01-01T00:00:00Z'),
};

/** Maximum pages of a whole aging report that are read. */
const REPORT_PAGES = 800;

/** Measures the sizes, smallest first. */
export async function measure({ folder, signal, small, report }) {
  const sizes = (small ? [1, 5, 20] : SIZES).map((times) => ({ times, patients: BASE.patients * times }));
  report.section(
    'Growth',
    'One SQLite practice a size, with two transactions a patient, asked over HTTP one request after another. Writes are durable; auth, audit, outbox and rate limit are on.',
  );
  await makePractices(folder, sizes, signal);
  await serveAll(folder, sizes, async () => {
    for (const size of sizes) {
      size.client = new Client(size.url);
      const { meta } = JSON.parse(await ask(size, 'GET', filtered('agingbalances/report', 'location.id==ALL,page==1')));
      size.agingPages = Math.floor(meta.pagination.total / meta.pagination.limit);
    }
    await measureSame(report, sizes, small ? 3 : 25, signal);
    await measureCounts(report, sizes, small ? 2 : 15, signal);
    await measureAging(report, sizes.at(-1), small ? 2 : 25, signal);
    await measureReport(report, sizes.at(-1), small ? 1 : 3, signal);
    await measureHeld(report, sizes.at(-1), small ? 2 : 9, signal, { ask, change });
    for (const { client } of sizes) await client.close();
  });
  report.note(
    'Counts of all records and of those of a location are kept with the records. A page of the aging report is found anew after each change of the ledger, by how many transactions there are of blocks of guarantors.',
  );
}

async function makePractices(folder, sizes, signal) {
  const file = join(folder, 'practice.ndjson');
  await writePractice(file, BASE.patients, BASE.transactions, signal);
  const [first, ...others] = sizes;
  first.data = join(folder, 'data-1');
  await finish(['server', 'import', file, '--json', '--data', first.data], ownFolders(folder), () => {});
  for (const size of others) {
    signal.throwIfAborted();
    size.data = join(folder, `data-${size.times}`);
    cpSync(first.data, size.data, { recursive: true });
    enlarge(size.data, BASE, size.times);
  }
  for (const size of sizes) {
    takeOver(size.data, size.patients / 50);
    size.since = hundredth(size.data);
  }
}

/** Since when 100 patients have changed. */
function hundredth(data) {
  const database = new Database(join(data, 'molar.sqlite'), { readonly: true });
  try {
    return database
      .prepare('SELECT last_modified FROM patients ORDER BY last_modified DESC LIMIT 1 OFFSET 99')
      .pluck()
      .get();
  } finally {
    database.close();
  }
}

/** Starts a server for each size within the one before, and does the work when all listen. */
function serveAll(folder, [size, ...others], work) {
  if (size === undefined) return work();
  const args = ['--data', size.data, '--rate-limit', '1000000'];
  return withServer(args, ownFolders(folder), async (url) => {
    size.url = url;
    return serveAll(folder, others, work);
  });
}

async function measureSame(report, sizes, rounds, signal) {
  for (const [what, path] of Object.entries(SAME_ANSWER)) {
    const once = (size) => batch(size, path);
    const times = await inTurn(sizes, rounds, once, signal);
    rows(report, what, sizes, times);
  }
}

async function measureCounts(report, sizes, rounds, signal) {
  for (const [what, path] of Object.entries(COUNTS)) {
    const once = async (size, round) => {
      await change(size, round);
      return timed(() => ask(size, 'GET', path(size.patients, size)));
    };
    const times = await inTurn(sizes, rounds, once, signal);
    for (const [index, { patients }] of sizes.entries()) {
      report.value({ what: `${what}: ${patients.toLocaleString('en')}`, values: times[index], unit: 'ms' });
    }
  }
}

/** A page of the largest practice right after a change of the ledger, against the same page asked again. */
async function measureAging(report, size, rounds, signal) {
  const page = (number) => filtered('agingbalances/report', `location.id==ALL,page==${number}`);
  for (const [which, number] of Object.entries({ 'first page': 1, 'middle page': Math.ceil(size.agingPages / 2) })) {
    const [ours, theirs] = [[], []];
    for (let round = -1; round < rounds; round++) {
      signal.throwIfAborted();
      await change(size, round);
      const changed = await timed(() => ask(size, 'GET', page(number)));
      const again = await timed(() => ask(size, 'GET', page(number)));
      if (round < 0) continue;
      ours.push(changed);
      theirs.push(again);
    }
    const what = `aging, ${which}, after a guarantor has changed: ${size.patients.toLocaleString('en')}`;
    report.ratio({ what, ours, theirs, against: 'asked again', unit: 'ms' });
  }
}

/** Page by page while the ledger changes between them, against a ledger that does not. The changes are not timed. */
async function measureReport(report, size, rounds, signal) {
  const pages = Math.min(size.agingPages, REPORT_PAGES);
  const whole = async (before) => {
    let took = 0;
    for (let page = 1; page <= pages; page++) {
      signal.throwIfAborted();
      await before(page);
      took += await timed(() => ask(size, 'GET', filtered('agingbalances/report', `location.id==ALL,page==${page}`)));
    }
    return took / 1000;
  };
  const [ours, theirs] = [[], []];
  for (let round = 0; round < rounds; round++) {
    theirs.push(await whole(() => {}));
    ours.push(await whole((page) => change(size, page)));
  }
  const what = `aging, ${(pages * 1000).toLocaleString('en')} transactions, the ledger changing between pages`;
  report.ratio({ what, ours, theirs, against: 'a quiet ledger', unit: 's' });
}

/** Milliseconds of each round by size, after one round that does not count. */
async function inTurn(sizes, rounds, once, signal) {
  const times = sizes.map(() => []);
  for (let round = -1; round < rounds; round++) {
    signal.throwIfAborted();
    for (const [index, size] of sizes.entries()) {
      const took = await once(size, round);
      if (round >= 0) times[index].push(took);
    }
  }
  return times;
}

function rows(report, what, sizes, times) {
  const theirs = times[0];
  for (const [index, { patients }] of sizes.entries()) {
    if (index === 0) continue;
    report.ratio({
      what: `${what}: ${patients.toLocaleString('en')}`,
      ours: times[index],
      theirs,
      against: `${sizes[0].patients.toLocaleString('en')} patients`,
      unit: 'ms',
    });
  }
}

/** Milliseconds of a request, the mean of a batch. */
async function batch(size, path) {
  const took = await timed(async () => {
    for (let number = 0; number < BATCH; number++) await ask(size, 'GET', path(size.patients, size));
  });
  return took / BATCH;
}

async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Moves the first patient to another guarantor, or back: a change of a patient and of the ledger. */
function change(size, round) {
  const guarantor = FIRST.patient + (round % 2 === 0 ? 1 : 0);
  return ask(size, 'PUT', `patients/${FIRST.patient}`, JSON.stringify({ primaryGuarantor: { id: guarantor } }));
}

async function ask({ client }, method, path, body) {
  const headers = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const answer = await client.request({ method, path: `/api/v1/${path}`, headers, body });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${path} was answered by ${answer.statusCode}: ${text.slice(0, 300)}`);
  return text;
}
