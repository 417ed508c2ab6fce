// How long a get of one record takes on a server of one core while others make it work.
import { join } from 'node:path';
import { canPin } from './cores.js';
import { withLoad } from './pinned.js';
import { FIRST, LOCATIONS, NEW_PATIENT } from './practice.js';
import { HEADERS, requestText, withPractice } from './served.js';

const SIZE = { patients: 20_000, transactions: 80_000 };
const SMALL = { patients: 4_000, transactions: 16_000 };
/** Between an answer and the next get: a user, not a load. Milliseconds. */
const PAUSE = 3;
const AGING_PAGE = 1_000;
const PAGE = 500;

/** Measures the get while nothing else is asked, then while one exports, one posts and one pulls aging reports. */
export async function measure({ folder, signal, small, report }) {
  report.section(
    'A get beside other work, one core',
    `What 99 of 100 gets of a patient took at most, one after another with ${PAUSE} ms between them: alone, and while one client exports all patients and transactions in pages of ${PAGE}, another posts patients and a third pulls aging reports, each its next request as soon as the last one is answered. Writes are durable; auth, audit, outbox and rate limit are on, the limit above what is asked.`,
  );
  if (!canPin) report.note('Processes could not be bound to cores here: the server may have used more than one.');
  const size = small ? SMALL : SIZE;
  const milliseconds = small ? 2_000 : 5_000;
  await withPractice(join(folder, 'mixed'), size, signal, async ({ port, pid }) => {
    const target = (requests, pause) => ({ port, pid, connections: 1, requests, pause });
    const gets = { get: target(idsOf(FIRST.patient, size.patients, 13).map(getRequest), PAUSE) };
    const others = { export: target(exportOf(size)), post: target([POST]), aging: target(agingOf(size)) };
    const alone = [];
    const beside = [];
    await withLoad(folder, gets, (get) =>
      withLoad(folder, others, async (work) => {
        const both = () => Promise.all([get(['get'], milliseconds), work(Object.keys(others), milliseconds)]);
        await both();
        for (let round = 0; round < (small ? 3 : 5); round++) {
          signal.throwIfAborted();
          alone.push((await get(['get'], milliseconds))[0].p99);
          beside.push((await both())[0][0].p99);
        }
      }),
    );
    const kept = report.ratio({
      what: 'p99 of a get beside other work',
      ours: beside,
      theirs: alone,
      against: 'alone',
      unit: 'ms',
    });
    if (!kept) {
      report.note(
        'A get waits for one part of other work at most. By traces of the server, the slowest gets wait for the commit of posts or of entries of the audit log: for the sync of the disk, which is made on the thread that answers, and once in some 250 commits for the copy of the journal into the database with its own sync. Next come pages of an export and parts of an aging page, of a millisecond each, and the short collections of garbage.',
      );
    }
  });
}

const get = (path) => requestText('GET', `/api/v1/${path}`, HEADERS);
const getRequest = (id) => get(`patients/${id}`);
const POST = requestText('POST', '/api/v1/patients', { ...HEADERS, 'content-type': 'application/json' }, NEW_PATIENT);

/** Every so many of the ids that begin with `first`. */
function idsOf(first, number, step) {
  return Array.from({ length: Math.ceil(number / step) }, (_, index) => first + index * step);
}

/** Pages of everything, in the order of an export; what has been posted meanwhile is left out. */
function exportOf({ patients, transactions }) {
  const since = encodeURIComponent('transactionDate>=0001-01-01');
  return [
    ...idsOf(FIRST.patient - 1, patients, PAGE).map((lastId) => get(`patients?pageSize=${PAGE}&lastId=${lastId}`)),
    ...idsOf(FIRST.transaction - 1, transactions, PAGE).map((lastId) =>
      get(`transactions?pageSize=${PAGE}&lastId=${lastId}&filter=${since}`),
    ),
  ];
}

/** The report of each location, page by page; the practice spreads its transactions evenly. */
function agingOf({ transactions }) {
  const pages = Math.floor(transactions / LOCATIONS.length / AGING_PAGE);
  return LOCATIONS.flatMap(({ id }) =>
    Array.from({ length: Math.max(1, pages) }, (_, index) =>
      get(`agingbalances/report?filter=${encodeURIComponent(`location.id==${id},page==${index + 1}`)}`),
    ),
  );
}
