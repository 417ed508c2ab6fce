// What molar does at size, measured on this machine:
//   npm run bench [-- small|large]                    export of the patients of a practice
//   npm run bench -- import [PATIENTS TRANSACTIONS]   import of a practice into both stores, compared after
//   npm run bench -- load [small|large]               requests a second of a server on each store
import { measureExport } from './export.js';
import { measureImport } from './import.js';
import { measureLoad } from './load.js';
import { say } from './processes.js';

const [what = 'large', ...rest] = process.argv.slice(2);

const MEASUREMENTS = {
  small: () => measureExport('small'),
  large: () => measureExport('large'),
  import: () => measureImport(count(rest[0], 500_000), count(rest[1], 2_000_000)),
  load: () => measureLoad(rest[0] ?? 'large'),
};

function count(text, otherwise) {
  if (text === undefined) return otherwise;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`${text} is no number of records: give whole numbers from 1.`);
}

try {
  if (!Object.hasOwn(MEASUREMENTS, what)) {
    throw new Error(`There is no measurement ${what}: take ${Object.keys(MEASUREMENTS).join(', ')}.`);
  }
  process.exitCode = (await MEASUREMENTS[what]()) ? 0 : 1;
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
