// How long writes take while many records are imported into the same store, against the same writes alone.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownFolders } from './import.js';
import { withLoad } from './pinned.js';
import { NEW_PATIENT, ORGANIZATION, TOKEN, writePractice } from './practice.js';
import { textOf, withServer } from './processes.js';
import { requestText } from './served.js';
import { onStores } from './stores.js';

const SIZES = {
  small: { patients: 2000, transactions: 8000, milliseconds: 2000 },
  // What a part of an import takes does not depend on how many follow; of a million PostgreSQL takes twenty minutes.
  full: { patients: 10_000, transactions: 40_000, milliseconds: 5000 },
};
/** What is there before. */
const FIRST = { patients: 500, transactions: 2000 };
const OTHER = { organization: 'another-practice', token: 'token-of-another-practice' };
/** Of each organization, and between an answer and the next request: users at work, not a load. Milliseconds. */
const CONNECTIONS = 4;
const PAUSE = 5;
/** Windows of the writes alone. */
const ALONE = 6;

/** Measures POSTs of two organizations, alone and while the records of one of them are imported. */
export async function measure({ folder, signal, small, report }) {
  const { milliseconds, ...size } = small ? SIZES.small : SIZES.full;
  const first = join(folder, 'first.ndjson');
  await writePractice(first, FIRST.patients, FIRST.transactions, signal);
  const other = join(folder, 'other.ndjson');
  const text = readFileSync(first, 'utf8').replaceAll(ORGANIZATION, OTHER.organization).replaceAll(TOKEN, OTHER.token);
  writeFileSync(other, text);
  const file = join(folder, 'practice.ndjson');
  const { records } = await writePractice(file, size.patients, size.transactions, signal);
  report.section(
    'Writing: beside an import',
    `What 99 of 100 POSTs of a patient took at most, in windows of ${milliseconds / 1000} s: of an organization whose ${records.toLocaleString('en')} records are being imported by a process of its own, and of another one; ${CONNECTIONS} clients each, ${PAUSE} ms between their requests. Every answer must be a good one. Server, import and load share the machine's cores.`,
  );
  await onStores(folder, async ({ name, flags, env }) => {
    const own = { ...env, ...ownFolders(folder) };
    const importFile = (path) => textOf(['server', 'import', path, '--allow-credentials', ...flags], own);
    await importFile(first);
    await importFile(other);
    await withServer(['--rate-limit', '0', ...flags], own, async (url, { child }) => {
      const port = Number(new URL(url).port);
      const target = (token, organization) => ({
        port,
        pid: child.pid,
        connections: CONNECTIONS,
        pause: PAUSE,
        requests: [postOf(token, organization)],
      });
      const targets = { same: target(TOKEN, ORGANIZATION), other: target(OTHER.token, OTHER.organization) };
      await withLoad(folder, targets, async (load) => {
        const window = async () => (await load(['same', 'other'], milliseconds)).map(({ p99 }) => p99);
        await window();
        const alone = [];
        for (let at = 0; at < ALONE; at++) alone.push(await window());
        const beside = [];
        let seconds;
        const importing = importFile(file).then((took) => {
          seconds = took.seconds;
        });
        // What the last window saw of the import is less than a window.
        while (seconds === undefined) {
          signal.throwIfAborted();
          const found = await window();
          if (seconds === undefined || beside.length === 0) beside.push(found);
        }
        await importing;
        for (const [at, whose] of [
          [1, 'another organization'],
          [0, 'the same organization'],
        ]) {
          report.ratio({
            what: `${name}: p99 of POSTs of ${whose}`,
            ours: beside.map((found) => found[at]),
            theirs: beside.map((_, n) => alone[n % ALONE][at]),
            against: 'alone',
            unit: 'ms',
          });
        }
        report.value({ what: `${name}: import meanwhile`, values: [records / seconds], unit: 'records/s' });
      });
    });
  });
}

function postOf(token, organization) {
  const headers = { authorization: `Bearer ${token}`, 'organization-id': organization };
  return requestText('POST', '/api/v1/patients', { ...headers, 'content-type': 'application/json' }, NEW_PATIENT);
}
