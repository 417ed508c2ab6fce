// An export of all patients over a line of an office: against the longer of what its compressed bytes take on that line
// and its round trips, and against the same export without compression.
import { join } from 'node:path';
import { checkedLines, exported, firstLine, node } from './exporting.js';
import { importPatients } from './manypatients.js';
import { withServer } from './processes.js';

const MEGABITS = 20;
const MILLISECONDS = 40;
/** What molar asks for at a time when nobody says otherwise. */
const PAGE = 500;

/** Measures exports of 100,000 patients over a line of 20 Mbit/s and 40 ms. */
export async function measure({ folder, signal, small, report }) {
  const patients = small ? 10_000 : 100_000;
  const data = join(folder, 'data');
  report.section(
    `Export of ${patients.toLocaleString('en')} patients to CSV over a line of ${MEGABITS} Mbit/s and ${MILLISECONDS} ms`,
    `Pages of ${PAGE} records, all fields. A process on the same machine stands for the line: all connections share it, and the bytes of each way are late by half of the round trip. Auth, audit and rate limit are on. Each time is that of a process from its start to its end.`,
  );
  await importPatients(data, patients, signal);
  await withServer(['--data', data, '--rate-limit', '1000000'], {}, async (url) => {
    const { port } = new URL(url);
    const line = (...more) => node(['shapedline.js', port, String(MEGABITS), String(MILLISECONDS), ...more], 'pipe');
    const lines = [line(), line('plain')];
    const [compressed, plain] = (await Promise.all(lines.map(firstLine))).map((at) => `http://127.0.0.1:${at}`);
    const bytes = await bytesOf(url, patients);
    await overLine({ folder, compressed, plain, patients, bytes, rounds: small ? 1 : 5, signal, report });
    for (const each of lines) each.kill();
  });
}

async function overLine({ folder, compressed, plain, patients, bytes, rounds, signal, report }) {
  const took = { alone: [], parallel4: [], parallel8: [], plain: [] };
  const file = join(folder, 'patients.csv');
  const timed = async (url, ...flags) => {
    signal.throwIfAborted();
    const { seconds } = await exported(url, file, ['--csv', ...flags]);
    checkedLines(file, patients);
    return seconds;
  };
  for (let round = 0; round < rounds; round++) {
    took.alone.push(await timed(compressed));
    took.parallel4.push(await timed(compressed, '--parallel', '4'));
    took.parallel8.push(await timed(compressed, '--parallel', '8'));
    took.plain.push(await timed(plain));
  }
  const bytesTake = (bytes * 8) / (MEGABITS * 1e6);
  // An export ends with an empty page.
  const tripsTake = ((patients / PAGE + 1) * MILLISECONDS) / 1000;
  const against = (seconds, what) => ({ theirs: Array(rounds).fill(seconds), against: what, unit: 's' });
  const bytesAlone = against(bytesTake, `${(bytes / 1e6).toFixed(1)} MB on the line`);
  const longer = tripsTake > bytesTake ? against(tripsTake, 'its round trips') : bytesAlone;
  report.ratio({ what: 'patients list --csv', ours: took.alone, ...longer });
  report.ratio({ what: '--parallel 4', ours: took.parallel4, ...bytesAlone });
  report.ratio({ what: '--parallel 8', ours: took.parallel8, ...bytesAlone });
  report.note(
    'What an export takes beyond is its start and, before the line is full, a trip for each connection and one for the first page; the processor times of server and client are in each round trip. The two counts that prove it complete are one more trip, and what the server takes to count.',
  );
  report.ratio({
    what: 'patients list --csv, times faster',
    ours: took.alone,
    theirs: took.plain,
    against: 'without compression',
    unit: 's',
    faster: true,
  });
}

/** Bytes of all compressed pages and their heads, as they come over the line. */
async function bytesOf(url, patients) {
  return Number(await firstLine(node(['fetchpages.js', url, String(patients), String(PAGE), 'br'], 'pipe')));
}
