// Durable POSTs of patients for 16 organizations on PostgreSQL: on one server and on two, and one organization against the
// raw driver that inserts the very same rows in groups.
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { LOAD_CORE, runOn, SERVER_CORE } from './cores.js';
import { LOCATIONS, TOKEN } from './practice.js';
import { textOf, withServer } from './processes.js';
import { onPostgresStore } from './stores.js';

const ORGANIZATIONS = Array.from({ length: 16 }, (_, at) => `practice-${at + 1}`);
const CLIENTS = 64;

/** By samples of the processor time of each process while the load ran. */
const WHERE_IT_GOES =
  'Both cores are full all the time: the server takes nine tenths of one, the database eight tenths of the other, the load the rest. A second server and more organizations find none that is free, and share smaller groups; beside the rows, a durable POST costs the request, its checks, the message, the counts and the audit entry.';

/** Measures rounds of each in turn, so that what else the machine does falls on all of them. */
export async function measure({ folder, signal, small, report }) {
  const [seconds, rounds] = small ? [2, 3] : [5, 7];
  report.section(
    'Writing: many organizations on PostgreSQL',
    `${CLIENTS} clients, keep-alive, durable POSTs of patients; the database, its clients and both servers share the ${cpus().length} cores of this machine.`,
  );
  const file = join(folder, 'practice.ndjson');
  writeFileSync(file, [...practice()].map((line) => `${JSON.stringify(line)}\n`).join(''));
  await onPostgresStore(folder, async ({ flags, env, url }) => {
    await textOf(['server', 'import', file, ...flags], env);
    const serving = ['--rate-limit', '1000000', ...flags];
    await withServer(serving, env, (first) =>
      withServer(serving, env, async (second) => {
        const post = async (urls, organizations) => {
          const job = JSON.stringify({ urls, clients: CLIENTS, seconds, organizations, token: TOKEN });
          const posted = await runOn(LOAD_CORE, 'postingclients.js', [job], { signal });
          return posted.records / posted.seconds;
        };
        const [one, onOne, onTwo, raw] = [[], [], [], []];
        // The first round only warms up.
        for (let round = 0; round <= rounds; round++) {
          const rates = [
            await post([first], ORGANIZATIONS.slice(0, 1)),
            await rawRate(url, signal),
            await post([first], ORGANIZATIONS),
            await post([first, second], ORGANIZATIONS),
          ];
          if (round > 0) for (const [at, list] of [one, raw, onOne, onTwo].entries()) list.push(rates[at]);
        }
        const all = `${ORGANIZATIONS.length} organizations`;
        const ratio = (what, ours, theirs, against) => report.ratio({ what, ours, theirs, against, unit: 'records/s' });
        ratio(`${all}, one server`, onOne, one, 'one organization');
        ratio(`${all}, two servers`, onTwo, onOne, 'one server');
        ratio('one organization', one, raw, `pg, the same rows, ${CLIENTS} records a transaction`);
        if (!report.kept) report.note(WHERE_IT_GOES);
      }),
    );
  });
}

/** The rows of the first organization that the last posts made, written again: see rawposts.js for SQLite. */
async function rawRate(url, signal) {
  const { records, seconds } = await runOn(SERVER_CORE, 'rawpostgresposts.js', [url, String(CLIENTS)], { signal });
  return records / seconds;
}

function* practice() {
  for (const organizationId of ORGANIZATIONS) {
    yield {
      type: 'Organization',
      organizationId,
      id: organizationId,
      name: organizationId,
      timezone: 'UTC',
      createdDate: '2020-01-01',
    };
    for (const location of LOCATIONS) yield { type: 'Location', organizationId, ...location };
  }
  yield { type: 'AccessToken', token: TOKEN, organizations: ORGANIZATIONS, scopes: ['model:read', 'model:write'] };
}
