// The aging report of a whole location through the command, against one statement of SQL over the same database file.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AMOUNTS, OF_LEDGER, OF_TRANSACTIONS } from './agingsql.js';
import { Database } from './driver.js';
import { enlarge } from './enlarge.js';
import { ownFolders } from './import.js';
import { LOCATIONS, ORGANIZATION, TODAY, TOKEN, writePractice } from './practice.js';
import { finish, textOf, withServer } from './processes.js';

/** Nine transactions a patient. */
const BASE = { patients: 1000, transactions: 9000 };
const TIMES = 50;
const DAY = 86_400_000;
const [LOCATION] = LOCATIONS;

/** Measures the report of 450,000 transactions. */
export async function measure({ folder, signal, small, report }) {
  const times = small ? 5 : TIMES;
  const transactions = BASE.transactions * times;
  report.section(
    'Aging',
    `The report of one location with ${transactions.toLocaleString('en')} transactions in SQLite: every page over HTTP, merged and checked, written as JSON. Writes are durable; auth, audit, outbox and rate limit are on.`,
  );
  const data = join(folder, 'data');
  await makePractice(folder, data, times);
  await withServer(['--data', data, '--rate-limit', '1000000'], ownFolders(folder), async (url) => {
    const env = { ...ownFolders(folder), MOLAR_URL: url, MOLAR_ORGANIZATION: ORGANIZATION, MOLAR_TOKEN: TOKEN };
    const command = () => textOf(['agingbalances', 'report', '--location', String(LOCATION.id), '--json'], env);
    const first = await command();
    for (const text of [OF_TRANSACTIONS, OF_LEDGER])
      compare(JSON.parse(first.text).records, aggregate(data, text).rows);
    const ours = [];
    const floors = { records: [], ledger: [] };
    const memory = [];
    for (let round = 0; round < (small ? 3 : 9); round++) {
      signal.throwIfAborted();
      const { seconds, peak, text } = await command();
      if (text !== first.text) throw new Error('The report is not the same as before.');
      ours.push(seconds);
      memory.push(peak);
      floors.records.push(aggregate(data, OF_TRANSACTIONS).seconds);
      floors.ledger.push(aggregate(data, OF_LEDGER).seconds);
    }
    const what = 'agingbalances report --location ID';
    const compared = { what, ours, unit: 's' };
    report.ratio({ ...compared, theirs: floors.records, against: 'one SQL over the records' });
    report.ratio({
      ...compared,
      what: `${what}: kept ledger`,
      theirs: floors.ledger,
      against: 'one SQL over the kept ledger',
    });
    report.value({ what: `${what}, memory of the command`, values: memory, unit: 'MB' });
  });
  report.note(
    'The SQL reads the file without a server, auth, audit or names of guarantors, and its amounts are those of the command to the cent. The ledger is a table in which the server keeps what is open of each transaction: what is beyond it goes into pages of 1,000 transactions over HTTP, and into making, reading, checking and writing the records.',
  );
}

/** A practice of which all transactions are at one location, the last ones of yesterday, so that every age occurs. */
async function makePractice(folder, data, times) {
  const file = join(folder, 'practice.ndjson');
  await writePractice(file, BASE.patients, BASE.transactions);
  const age = Math.floor((Date.now() - TODAY) / DAY) * DAY;
  const lines = readFileSync(file, 'utf8')
    .replace(/("(?:preferredL|l)ocation"):\{"id":\d+\}/g, `$1:{"id":${LOCATION.id}}`)
    .replace(/"transactionDate":"([^"]+)"/g, (_, date) => {
      const moved = new Date(Date.parse(date) + age).toISOString().slice(0, 10);
      return `"transactionDate":"${moved}"`;
    });
  writeFileSync(file, lines);
  await finish(['server', 'import', file, '--json', '--data', data], ownFolders(folder), () => {});
  enlarge(data, BASE, times);
}

/** The rows of a statement, and the seconds that it took on a connection of its own. */
function aggregate(data, text) {
  const began = performance.now();
  const database = new Database(join(data, 'molar.sqlite'), { readonly: true });
  try {
    const { org } = database.prepare('SELECT org FROM organizations WHERE id = ?').get(ORGANIZATION);
    const [thirty, sixty, ninety] = [30, 60, 90].map((days) => dayBefore(days));
    const rows = database.prepare(text).all({ org, location: LOCATION.id, thirty, sixty, ninety });
    return { rows, seconds: (performance.now() - began) / 1000 };
  } finally {
    database.close();
  }
}

/** The calendar date so many days before today where the location is. */
function dayBefore(days) {
  const today = new Intl.DateTimeFormat('sv', { timeZone: LOCATION.timezone }).format(new Date());
  return new Date(Date.parse(today) - days * DAY).toISOString().slice(0, 10);
}

/** Both hold the same guarantors with the same amounts, to the cent. */
function compare(records, rows) {
  if (records.length !== rows.length) throw new Error(`${records.length} guarantors, but ${rows.length} by SQL.`);
  for (const [index, row] of rows.entries()) {
    const record = records[index];
    const same = Object.entries(AMOUNTS).every(([name, path]) => {
      const dollars = path.reduce((value, step) => value[step], record);
      return Math.round(dollars * 100) === row[name];
    });
    if (record.id === String(row.guarantor) && same) continue;
    throw new Error(`Guarantor ${record.id} differs: ${JSON.stringify(record)}, by SQL ${JSON.stringify(row)}.`);
  }
}
