// How fast a folder of files becomes documents, against a shell script that sends one after another with curl.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownFolders } from './import.js';
import { FIRST, ORGANIZATION, TOKEN, writePractice } from './practice.js';
import { textOf, watch, withServer } from './processes.js';

const FILE_BYTES = 200 * 1024;
/** Both sides of all rounds upload to a patient of their own, so that no name is taken. */
const PATIENTS = 40;

/** What such a script does: the one request that the API needs for a document, its content in base64. */
const SCRIPT = `
set -eu
for file in "$FOLDER"/*.pdf; do
  { printf '{"name":"%s","mimeType":"PDF","ownerPatient":{"id":%s},"file":{"content":"' "$(basename "$file" .pdf)" "$PATIENT"
    base64 < "$file" | tr -d '\\n'
    printf '"}}'
  } | curl --silent --show-error --fail --output /dev/null --data-binary @- \\
    --header "Authorization: Bearer $MOLAR_TOKEN" --header "Organization-ID: $MOLAR_ORGANIZATION" \\
    --header 'Content-Type: application/json' "$MOLAR_URL/api/v1/documents"
done`;

const COSTS =
  'By profiles, the longest first. Of the time of molar: code that is run for the first times, which undici, its streams and the promises between them have the most of; the system, half of it for the connections; the hash of each file, made before it is sent and again of what is sent, so that a file that changes between is never stored; its start; base64. Of that of the server: the system, for new files, their syncs and the connections; the code that takes a request and writes its record; hashing and base64. While SQLite waits for the disk, which it does once for the documents that arrive together, the server does nothing else.';

/** Uploads the same files in turn to one server, and has every document counted. */
export async function measure({ folder, signal, small, report }) {
  const [files, rounds] = small ? [50, 3] : [500, 5];
  report.section(
    'Upload of documents',
    'Every document is durable on the server, its file and its record, before it is answered; auth, audit, outbox, idempotency keys and rate limit are on. molar also hashes each file, notes on disk what it sends so that no document is ever made twice, and writes what became of each file.',
  );
  if (spawnSync('curl', ['--version'], { stdio: 'ignore' }).status !== 0) {
    return report.note('Left out: curl is not installed here.');
  }
  const scans = writeFiles(join(folder, 'scans'), files);
  const practice = join(folder, 'practice.ndjson');
  await writePractice(practice, PATIENTS, 0, signal);
  const data = ['--data', join(folder, 'data')];
  const own = ownFolders(folder);
  await textOf(['server', 'import', practice, '--json', ...data], own);
  await withServer([...data, '--rate-limit', '1000000'], own, async (url) => {
    const env = { ...process.env, ...own, MOLAR_URL: url, MOLAR_ORGANIZATION: ORGANIZATION, MOLAR_TOKEN: TOKEN };
    const [ours, theirs] = [[], []];
    for (let round = 0; round < rounds; round++) {
      signal.throwIfAborted();
      const [mine, other] = [FIRST.patient + 2 * round, FIRST.patient + 2 * round + 1];
      const results = join(folder, `results-${round}.csv`);
      const upload = ['documents', 'upload', scans, '--patient', String(mine), '--results', results];
      ours.push((await textOf(upload, env)).seconds);
      theirs.push(await scriptSeconds({ ...env, FOLDER: scans, PATIENT: String(other) }));
      for (const patient of [mine, other]) await checkCount(patient, files, env);
    }
    const kept = report.ratio({
      what: `${files} files of ${FILE_BYTES / 1024} KiB`,
      ours,
      theirs,
      against: 'a loop of curl',
      unit: 's',
      faster: true,
    });
    if (!kept) report.note(COSTS);
  });
}

/** Scans that nothing can make smaller: a first line that says PDF, then bytes that look like chance. */
function writeFiles(folder, files) {
  mkdirSync(folder);
  for (let number = 0; number < files; number++) {
    const blocks = [Buffer.from('%PDF-1.4\n')];
    for (let block = 0; block < FILE_BYTES / 32; block++) {
      blocks.push(createHash('sha256').update(`${number} ${block}`).digest());
    }
    const name = `scan-${String(number).padStart(4, '0')}.pdf`;
    writeFileSync(join(folder, name), Buffer.concat(blocks).subarray(0, FILE_BYTES));
  }
  return folder;
}

async function scriptSeconds(env) {
  const began = performance.now();
  const { child } = watch(spawn('sh', ['-c', SCRIPT], { env, stdio: ['ignore', 'ignore', 'inherit'] }));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`The script ended with ${code}.`);
  return (performance.now() - began) / 1000;
}

async function checkCount(patient, files, env) {
  const { text } = await textOf(['documents', 'count', '--filter', `ownerPatient.id==${patient}`, '--json'], env);
  const [count] = Object.values(JSON.parse(text));
  if (count !== files) throw new Error(`Patient ${patient} has ${text.trim()} of ${files} documents.`);
}
