// What molar takes, measured on this machine against floors and against what people use instead:
//   npm run bench                       everything; writes a page of each measurement, and test/bench/RESULTS.md
//   npm run bench -- NAME… [--small]    some of it; with little data, for a look, it writes nothing
//   npm run bench -- stores [PATIENTS TRANSACTIONS]   import of a practice into both stores, compared after
//   npm run bench -- patienttrail [ENTRIES]           who has seen a patient, of a long audit log, on both stores
//   npm run bench -- load [small|large]               requests a second of a server on each store
//   npm run bench -- --against COMMIT [WORK…] [--small]   what this checkout costs against another commit, in turn
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareWith } from './against.js';
import { BUDGETS } from './budgets.js';
import { measureImport } from './import.js';
import { measureLoad } from './load.js';
import { machineText } from './machine.js';
import { measurePatientTrail } from './patienttrail.js';
import { inFolder, say } from './processes.js';
import { overview, Report } from './results.js';

/** In the order of the page. Each is `measure({ folder, signal, small, report })` of its module. */
const MEASUREMENTS = [
  'startup',
  'export',
  'compressed',
  'server',
  'audit',
  'workers',
  'posts',
  'organizations',
  'mixed',
  'growth',
  'mirror',
  'aging',
  'upload',
  'importing',
  'besideimport',
  'relay',
  'fanout',
  'tenants',
];

/** Measured only when named, since they take long; they write no page. */
const OTHERS = {
  stores: ([patients, transactions]) => measureImport(count(patients, 500_000), count(transactions, 2_000_000)),
  patienttrail: ([entries]) => measurePatientTrail(count(entries, 10_000_000)),
  load: ([size = 'large']) => measureLoad(size),
};

function count(text, otherwise) {
  if (text === undefined) return otherwise;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`${text} is no number of records: give whole numbers from 1.`);
}

async function budgets(given) {
  const small = given.includes('--small');
  const names = given.filter((word) => word !== '--small');
  const unknown = names.find((name) => !MEASUREMENTS.includes(name));
  if (unknown !== undefined) {
    const all = [...MEASUREMENTS, ...Object.keys(OTHERS)];
    throw new Error(`There is no measurement ${unknown}: take ${all.join(', ')}.`);
  }
  const machine = await inFolder((folder) => machineText(folder));
  say(machine);
  let kept = true;
  for (const name of names.length > 0 ? names : MEASUREMENTS) {
    const report = new Report(say, BUDGETS[name]);
    const { measure } = await import(`./${name}.js`);
    await inFolder((folder, signal) => measure({ folder, signal, small, report }));
    kept &&= report.kept;
    if (!small) write(name, report.markdown(name, `${machine}; measured on ${new Date().toISOString().slice(0, 10)}`));
  }
  return kept;
}

async function against(commit, given) {
  if (commit === undefined || commit.startsWith('--')) {
    throw new Error('Against which commit? npm run bench -- --against COMMIT [WORK…] [--small]');
  }
  const names = given.filter((word) => word !== '--small');
  say(await inFolder((folder) => machineText(folder)));
  return inFolder((folder, signal) => compareWith(commit, names, { folder, signal, small: given.includes('--small') }));
}

/** Writes the page of a measurement, and the one above all pages. */
function write(name, page) {
  writeFileSync(pageOf(name), page);
  const pages = MEASUREMENTS.filter((each) => existsSync(pageOf(each)));
  const texts = pages.map((each) => [each, readFileSync(pageOf(each), 'utf8')]);
  writeFileSync(join(import.meta.dirname, 'RESULTS.md'), overview(texts));
  say(`\nWritten to test/bench/results/${name}.md.`);
}

const pageOf = (name) => join(import.meta.dirname, 'results', `${name}.md`);

/** Measures what the words of the command line ask for; answers whether all is as it should be. */
function measureGiven(given) {
  const at = given.indexOf('--against');
  if (at !== -1) return against(given[at + 1], given.toSpliced(at, 2));
  const [what, ...rest] = given;
  return Object.hasOwn(OTHERS, what) ? OTHERS[what](rest) : budgets(given);
}

try {
  const kept = await measureGiven(process.argv.slice(2));
  process.exitCode = kept ? 0 : 1;
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
