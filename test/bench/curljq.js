// What people use instead of an export: a loop of curl and jq over the pages, each from the last id of the one before.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { ORGANIZATION, TOKEN } from './practice.js';

const SCRIPT = `
last=0
while [ "$PAGES" -gt 0 ]; do
  next=$(curl -sf -H "Authorization: Bearer $TOKEN" -H "Organization-ID: $ORGANIZATION" \\
    "$URL/api/v1/patients?pageSize=$SIZE&lastId=$last" | jq -r "$FILTER" | tee -a "$OUT" | tail -n 1 | cut -d, -f 1)
  [ -n "$next" ] || exit 1
  last=$next
  PAGES=$((PAGES - 1))
done`;

/** Whether the programs are here. */
export function hasCurlAndJq() {
  return ['curl', 'jq'].every((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
}

/** Writes the columns of the first pages to a CSV file; answers its text without a header, and the seconds it took. */
export function curlAndJq({ url, columns, pages, size, file }) {
  rmSync(file, { force: true });
  const env = {
    ...process.env,
    URL: url,
    TOKEN,
    ORGANIZATION,
    PAGES: String(pages),
    SIZE: String(size),
    OUT: file,
    FILTER: `.data[] | [${columns.map(cell).join(', ')}] | @csv`,
  };
  const began = performance.now();
  const { status } = spawnSync('sh', ['-c', SCRIPT], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const seconds = (performance.now() - began) / 1000;
  if (status !== 0) throw new Error(`curl and jq ended with ${status}.`);
  return { seconds, text: readFileSync(file, 'utf8') };
}

/** Lists that molar writes as JSON; jq has to be told. */
const LISTS = ['phones', 'referredPatients', 'billingTypes'];
const cell = (column) => (LISTS.includes(column) ? `(.${column} | tojson)` : `.${column}`);

/** The cells of CSV text, line by line: two programs may put quotes where the other does not. */
export function cellsOf(text) {
  return text
    .trimEnd()
    .split('\n')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, bare]) =>
        quoted === undefined ? bare : quoted.replaceAll('""', '"'),
      ),
    );
}
