// Durable POSTs of many clients at one server, against the raw driver that inserts the very same rows in groups.
import { join } from 'node:path';
import { coresText, LOAD_CORE, pin, runOn, SERVER_CORE } from './cores.js';
import { ownFolders } from './import.js';
import { ORGANIZATION, TOKEN, writePractice } from './practice.js';
import { textOf, withServer } from './processes.js';
import { backUp, differenceOf } from './rawrows.js';

/** Also the records that the raw driver commits together: one of each client. */
const CLIENTS = 64;

/** Written from time to time, not with each POST: when a token was last used, and checkpoints of the audit log. */
const BY_TIME = ['access_tokens', 'audit_checkpoints'];

const SIZES = {
  small: { patients: 300, transactions: 1200, seconds: 2, rounds: 3 },
  full: { patients: 3000, transactions: 12_000, seconds: 5, rounds: 9 },
};

/** Measures POSTs of patients; the driver then writes the rows of each round again, into a copy of the database. */
export async function measure({ folder, signal, small, report }) {
  const { patients, transactions, seconds, rounds } = small ? SIZES.small : SIZES.full;
  report.section(
    'Writing: durable POST',
    `${CLIENTS} clients, keep-alive; ${coresText}. Each answer is durable (WAL, synchronous=FULL); auth, audit, outbox, idempotency keys and rate limit are on.`,
  );
  const env = ownFolders(folder);
  const [file, data] = [join(folder, 'practice.ndjson'), join(folder, 'data')];
  await writePractice(file, patients, transactions, signal);
  await textOf(['server', 'import', file, '--data', data], env);
  const [ours, copy] = [join(data, 'molar.sqlite'), join(folder, 'raw.sqlite')];
  await backUp(ours, copy);
  const [served, raw] = [[], []];
  await withServer(['--rate-limit', '1000000', '--data', data], env, async (url, { child }) => {
    pin(child.pid, SERVER_CORE);
    const job = JSON.stringify({ urls: [url], clients: CLIENTS, seconds, organizations: [ORGANIZATION], token: TOKEN });
    // The first round only warms up.
    for (let round = 0; round <= rounds; round++) {
      const posted = await runOn(LOAD_CORE, 'postingclients.js', [job], { signal });
      const again = await runOn(SERVER_CORE, 'rawposts.js', [ours, copy, String(CLIENTS)], { signal });
      if (again.records !== posted.records) throw new Error(`${posted.records} answers, ${again.records} records.`);
      if (round === 0) continue;
      served.push(posted.records / posted.seconds);
      raw.push(again.records / again.seconds);
    }
  });
  const different = differenceOf(ours, copy, BY_TIME);
  if (different !== undefined) throw new Error(`The driver did not write the same rows: ${different}.`);
  const kept = report.ratio({
    what: 'POST of a patient',
    ours: served,
    theirs: raw,
    against: `better-sqlite3, the same rows, ${CLIENTS} records a transaction`,
    unit: 'records/s',
  });
  if (!kept) report.note(WHERE_IT_GOES);
}

const WHERE_IT_GOES =
  'A profile of the server: most of the time of a POST goes into what the driver alone does not do, HTTP, checks, and the JSON of the record, its message and the answer; SQLite takes the smaller part, and the sync of the disk is shared by all that wait for it.';
