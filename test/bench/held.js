// How long a request that costs much keeps others waiting: what is asked for again and again while it is answered.
import { Client } from 'undici';
import { FIRST, LOCATIONS } from './practice.js';

const patients = (filter, rest = '') => `patients?filter=${encodeURIComponent(filter)}${rest}`;
const HERE = `preferredLocation.id==${LOCATIONS[0].id}`;

/** What passes over, sorts or looks at many records, by the route that it is asked of. */
const HEAVY = {
  'patients, page 9,000 of 100': () => 'patients?pageSize=100&page=9000',
  'patients of a location, page 2,000 of 100': () => patients(HERE, '&pageSize=100&page=2000'),
  'patients, common surname at a location': () => patients(`lastName==Ashbourne,${HERE}`, '&lastId=0'),
  'patients, surname and no match': () => patients('lastName==Ashbourne,patientStatus==INACTIVE', '&lastId=0'),
  'count of a common surname at a location': () =>
    `patients/totalcount?filter=${encodeURIComponent(`lastName==Ashbourne,${HERE}`)}`,
  'transactions, newest first': () =>
    `transactions?filter=${encodeURIComponent('transactionDate>=0001-01-01')}&pageSize=100`,
  'transactions, newest first, page 1,000': () =>
    `transactions?filter=${encodeURIComponent('transactionDate>=0001-01-01')}&pageSize=100&page=1000`,
  'one patient': () => `patients/${FIRST.patient}`,
};

/** Measures it on a practice: the longest wait of a round is what counts, and of the rounds the median. */
export async function measureHeld(report, size, rounds, signal, { ask, change }) {
  const waiting = new Client(size.url);
  for (const [what, path] of Object.entries(HEAVY)) {
    const values = [];
    for (let round = -1; round < rounds; round++) {
      signal.throwIfAborted();
      // No number is known from before.
      await change(size, round);
      const longest = await longestWait(waiting, () => ask(size, 'GET', path()));
      if (round >= 0) values.push(longest);
    }
    report.value({ what: `longest wait of others during: ${what}`, values, unit: 'ms' });
  }
  await waiting.close();
}

/** The longest of the requests for nothing that are sent one after another while a work is under way, in milliseconds. */
async function longestWait(client, work) {
  let isDone = false;
  const done = work().finally(() => {
    isDone = true;
  });
  let longest = 0;
  while (!isDone) {
    const began = performance.now();
    const answer = await client.request({ method: 'GET', path: '/healthz' });
    await answer.body.dump();
    longest = Math.max(longest, performance.now() - began);
  }
  await done;
  return longest;
}
