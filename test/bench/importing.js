// An import into an empty database, against the raw driver that inserts the very same rows in one transaction.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { runOn, SERVER_CORE } from './cores.js';
import { ownFolders } from './import.js';
import { writePractice } from './practice.js';
import { textOf } from './processes.js';
import { differenceOf } from './rawrows.js';

const SIZES = {
  small: { patients: 2000, transactions: 8000, rounds: 2 },
  full: { patients: 40_000, transactions: 160_000, rounds: 4 },
};

/** Measures `molar server import`, from its start to its end; the driver writes all rows that it made once more. */
export async function measure({ folder, signal, small, report }) {
  const { patients, transactions, rounds } = small ? SIZES.small : SIZES.full;
  report.section(
    'Writing: import',
    'Into an empty database, with its start as a command. Durable when it ends (WAL, synchronous=FULL); outbox and audit are on, and all links are checked. There are no requests, so no auth and no rate limit. Both keep the same indexes; the driver has them from the beginning. molar runs its statements in a thread of their own, so it uses two cores; the driver uses one.',
  );
  const file = join(folder, 'practice.ndjson');
  const { records } = await writePractice(file, patients, transactions, signal);
  const [ours, theirs, peaks] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    const [data, copy] = [join(folder, `data${round}`), join(folder, `raw${round}.sqlite`)];
    const { seconds, peak } = await textOf(['server', 'import', file, '--data', data], ownFolders(folder));
    signal.throwIfAborted();
    const raw = await runOn(SERVER_CORE, 'rawimport.js', [join(data, 'molar.sqlite'), copy], { signal });
    const different = round === 0 ? differenceOf(join(data, 'molar.sqlite'), copy) : undefined;
    if (different !== undefined) throw new Error(`The driver did not write the same rows: ${different}.`);
    ours.push(records / seconds);
    theirs.push(records / raw.seconds);
    peaks.push(peak);
    for (const path of [data, copy, `${copy}-wal`, `${copy}-shm`]) rmSync(path, { recursive: true, force: true });
  }
  const kept = report.ratio({
    what: `import of ${records.toLocaleString('en')} records`,
    ours,
    theirs,
    against: 'better-sqlite3, the same rows in one transaction',
    unit: 'records/s',
  });
  if (!kept) report.note(WHERE_IT_GOES);
  report.value({ what: 'memory of the import, at most', values: peaks, unit: 'MB' });
}

const WHERE_IT_GOES =
  'A profile of the import: reading, checking and writing the JSON of each line takes about half as long as SQLite does beside it, which does more than the inserts: it works out the ledger, copies the messages from the stored records, looks up what links lead to, and, when it commits, sums up each page of the journal once more, since some were written twice.';
