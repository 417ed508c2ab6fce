// An export of all patients to CSV, against a bare loop that throws the same pages away and against curl and jq; its
// memory; and what --parallel gains on a slow line.
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { cellsOf, curlAndJq, hasCurlAndJq } from './curljq.js';
import { checkedLines, ended, exported, firstLine, node } from './exporting.js';
import { importPatients, multiplyPatients } from './manypatients.js';
import { withServer } from './processes.js';

/** What molar asks for at a time when nobody says otherwise. */
const PAGE = 500;
/** Milliseconds that the line of the parallel export adds to each request. */
const LINE = 30;
/** How many times the first practice the large one is. */
const LARGE = 5;

/** Measures exports of 200,000 patients, and the memory of one of a million. */
export async function measure({ folder, signal, small, report }) {
  const patients = small ? 20_000 : 200_000;
  const data = join(folder, 'data');
  report.section(
    `Export of ${patients.toLocaleString('en')} patients`,
    `Pages of ${PAGE} records, all fields. The server runs on the same machine; auth, audit and rate limit are on, the audit of each page is durable. Each time is that of a process from its start to its end.`,
  );
  await importPatients(data, patients, signal);
  const practice = { folder, patients, signal, report, rounds: small ? 2 : 7 };
  const flags = ['--data', data, '--rate-limit', '1000000'];
  await withServer(flags, {}, async (url) => {
    const export_ = { ...practice, url };
    await againstBareLoop(export_);
    await onSlowLine({ ...export_, rounds: small ? 1 : 3 });
  });
  multiplyPatients(data, patients, LARGE);
  await withServer(flags, {}, (url) => memoryOfLarge({ ...practice, url, patients: LARGE * patients }));
}

async function againstBareLoop({ folder, url, patients, rounds, signal, report }) {
  const file = join(folder, 'patients.csv');
  const took = { csv: [], ndjson: [], bare: [], page: [], loop: [] };
  const peaks = { csv: [], ndjson: [] };
  const pages = Math.ceil(patients / PAGE);
  const loopPages = Math.min(pages, rounds * 4);
  // The first round warms up.
  for (let round = -1; round < rounds; round++) {
    signal.throwIfAborted();
    const bare = await bareLoop(url, patients);
    const ndjson = await exported(url, join(folder, 'patients.ndjson'), ['--format', 'ndjson']);
    const csv = await exported(url, file, ['--csv']);
    const lines = checkedLines(file, patients);
    const loop = hasCurlAndJq()
      ? loopOver(lines, { url, pages: loopPages, size: PAGE, file: `${file}.jq` })
      : undefined;
    if (round < 0) continue;
    took.bare.push(bare);
    took.csv.push(csv.seconds);
    took.ndjson.push(ndjson.seconds);
    took.page.push((csv.seconds * 1000) / pages);
    if (loop !== undefined) took.loop.push((loop * 1000) / loopPages);
    peaks.csv.push(csv.peak);
    peaks.ndjson.push(ndjson.peak);
  }
  report.note(
    'An export asks for the next page as soon as the last id of this one is seen: it takes the time of the slower of server and client, and its start. The bare loop takes that of both, one after the other.',
  );
  report.note(
    'Where the processor time of the export to CSV goes, by a profile: three tenths read records and write lines, a fifth is V8 compiling beside it (the loops over records, and the HTTP parser of undici), a fifth receives, a sixth is the start of the process, a thirtieth writes the file; the rest is what is done for each request.',
  );
  const bare = { theirs: took.bare, against: 'bare loop', unit: 's' };
  report.ratio({ what: 'patients list --csv', ours: took.csv, ...bare });
  report.ratio({ what: 'patients list --format ndjson', ours: took.ndjson, ...bare });
  report.value({ what: 'patients list --csv, memory', values: peaks.csv, unit: 'MB' });
  report.value({ what: 'patients list --format ndjson, memory', values: peaks.ndjson, unit: 'MB' });
  if (took.loop.length === 0) return report.note('curl and jq are left out: they are not installed here.');
  const loop = { theirs: took.loop, against: 'curl | jq', unit: 'ms a page', faster: true };
  report.ratio({ what: 'patients list --csv, times faster', ours: took.page, ...loop });
  return report.note(
    `The loop of curl and jq is measured over ${loopPages} of the ${pages} pages, since it is slow; its start is not shared by fewer pages, as the start of molar is. Its cells are the same as those of molar.`,
  );
}

async function onSlowLine({ folder, url, patients, rounds, signal, report }) {
  const proxy = node(['slowproxy.js', new URL(url).port, String(LINE)], 'pipe');
  const slow = `http://127.0.0.1:${await firstLine(proxy)}`;
  const took = { parallel: [], bare: [] };
  const file = join(folder, 'parallel.csv');
  for (let round = 0; round < rounds; round++) {
    signal.throwIfAborted();
    took.bare.push(await bareLoop(slow, patients));
    took.parallel.push((await exported(slow, file, ['--csv', '--parallel', '8'])).seconds);
    checkedLines(file, patients);
  }
  proxy.kill();
  report.ratio({
    what: `--parallel 8, a line of ${LINE} ms, times faster`,
    ours: took.parallel,
    theirs: took.bare,
    against: 'bare loop, sequential',
    unit: 's',
    faster: true,
  });
}

async function memoryOfLarge({ folder, url, patients, report }) {
  const file = join(folder, 'large.csv');
  const { peak } = await exported(url, file, ['--csv']);
  checkedLines(file, patients);
  const what = `the same of ${patients.toLocaleString('en')} patients, memory`;
  report.value({ what, values: [peak], unit: 'MB' });
  report.note(
    'The large practice is the small one with its rows copied under other ids; one export of it is measured.',
  );
}

async function bareLoop(url, patients) {
  const began = performance.now();
  await ended(node(['fetchpages.js', url, String(patients), String(PAGE)], 'ignore'), 'The bare loop');
  return (performance.now() - began) / 1000;
}

/** Seconds that curl and jq take for the first pages, whose cells must be those that molar wrote. */
function loopOver([header, ...lines], { url, pages, size, file }) {
  const { seconds, text } = curlAndJq({ url, columns: header.split(','), pages, size, file });
  const ours = Buffer.from(lines.slice(0, pages * size).join('\n'), 'latin1').toString();
  if (!isDeepStrictEqual(cellsOf(ours), cellsOf(text))) throw new Error('curl and jq wrote other cells than molar.');
  return seconds;
}
