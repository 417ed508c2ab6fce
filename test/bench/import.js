// Imports a synthetic practice into both stores within a bound of memory, and compares what both serve.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { BUDGETS } from './budgets.js';
import { machineText } from './machine.js';
import { ORGANIZATION, TOKEN, writePractice } from './practice.js';
import { finish, inFolder, say, textOf, withServer } from './processes.js';
import { onStores } from './stores.js';

/** In megabytes. */
const LIMIT = BUDGETS.stores['memory of the import, at most'].atMost;

const megabytes = (bytes) => Math.round(bytes / 1_048_576).toLocaleString('en');
const whole = (number) => Math.round(number).toLocaleString('en');

/** Measures an import into each store; answers whether memory kept within its bound and both serve the same. */
export function measureImport(patients, transactions) {
  return inFolder(async (folder, signal) => {
    say(await machineText(folder));
    const file = join(folder, 'practice.ndjson');
    const practice = await writePractice(file, patients, transactions, signal);
    say(`${whole(practice.records)} records, ${megabytes(practice.bytes)} MB of NDJSON`);
    const results = await onStores(folder, async (store) => {
      signal.throwIfAborted();
      return measureStore({ ...store, env: { ...store.env, ...ownFolders(folder) } }, file, practice);
    });
    return results.every(({ within }) => within) && agree(results.map(({ served }) => served));
  });
}

/** Nothing of the one who runs this is read or written: no profile, no data folder. */
export function ownFolders(folder) {
  return { MOLAR_CONFIG_DIR: join(folder, 'config'), XDG_DATA_HOME: join(folder, 'home'), HOME: join(folder, 'home') };
}

/** Imports a file, and says and answers what it took. */
export async function importPractice({ name, flags, env, bytes }, file, { counts, records }) {
  const { seconds, peak, text } = await textOf(['server', 'import', file, '--json', ...flags], env);
  const { imported } = JSON.parse(text);
  for (const [type, number] of Object.entries(counts)) {
    if (imported[type] !== number) throw new Error(`${name}: ${imported[type]} of ${number} ${type} were imported.`);
  }
  const speed = `${seconds.toFixed(1)} s, ${whole(records / seconds)} records a second`;
  say(`${name}: imported in ${speed}; ${Math.round(peak)} MB of memory at most; ${megabytes(await bytes())} MB stored`);
  return peak;
}

async function measureStore(store, file, practice) {
  const peak = await importPractice(store, file, practice);
  const within = peak <= LIMIT;
  if (!within) say(`${store.name}: ${Math.round(peak)} MB is over the bound of ${LIMIT} MB.`);
  const served = await withServer(['--rate-limit', '0', ...store.flags], store.env, async (url, server) => {
    const env = { ...store.env, MOLAR_URL: url, MOLAR_ORGANIZATION: ORGANIZATION, MOLAR_TOKEN: TOKEN };
    const answers = {};
    for (const [what, args] of Object.entries(SERVED)) answers[what] = await answerOf(store.name, what, args, env);
    say(`${store.name}: the server took ${Math.round(server.peak)} MB at most`);
    return answers;
  });
  return { within, served };
}

/** Commands whose output must be the same on both stores, byte for byte. */
const SERVED = {
  'patients count': ['patients', 'count', '--json'],
  'transactions count': ['transactions', 'count', '--json'],
  'patients list': ['patients', 'list', '--format', 'ndjson'],
  'transactions list': ['transactions', 'list', '--format', 'ndjson'],
  'agingbalances report': ['agingbalances', 'report', '--location', 'ALL', '--json'],
};

/** What a command wrote, in few characters: a short output as it is, and the SHA-256 of a longer one. */
async function answerOf(name, what, args, env) {
  const hash = createHash('sha256');
  let bytes = 0;
  let short = '';
  const { seconds, peak } = await finish(args, env, (chunk) => {
    hash.update(chunk);
    bytes += chunk.length;
    if (bytes <= 200) short += chunk;
  });
  const answer = bytes <= 200 ? short.trim() : `sha256 ${hash.digest('hex')}`;
  say(
    `${name}: ${what}: ${answer} (${megabytes(bytes)} MB in ${seconds.toFixed(1)} s, ${Math.round(peak)} MB of memory)`,
  );
  return answer;
}

function agree(served) {
  const [first, ...others] = served;
  const different = Object.keys(SERVED).filter((what) => others.some((other) => other[what] !== first[what]));
  if (others.length > 0) {
    say(different.length === 0 ? 'Both stores serve the same.' : `The stores differ in: ${different.join(', ')}.`);
  }
  return different.length === 0;
}
