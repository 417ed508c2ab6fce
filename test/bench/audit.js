// What it costs that a read is in the audit log before it is answered: strict against buffered, on the same practice.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { pinServer, withLoad } from './pinned.js';
import { withServer } from './processes.js';
import { getPath, listPath, reads } from './reads.js';
import { HEADERS, withPractice } from './served.js';

const PATIENTS = 20_000;
const CONNECTIONS = 32;

const KINDS = [
  { what: 'get one', path: getPath, size: 1 },
  { what: 'list of 100', path: listPath(100), size: 100 },
  { what: 'list of 500', path: listPath(500), size: 500 },
];

/** Measures both modes round by round in turn, each server alone on its core. */
export async function measure({ folder, signal, small, report }) {
  report.section(
    'Audit log, strict against buffered',
    `Requests a second of ${CONNECTIONS} connections, servers on one core, the load on another. Both note every id that an answer held; strict has the entry on disk before the first byte, buffered within 250 ms.`,
  );
  const [count, milliseconds] = small ? [3, 400] : [9, 1000];
  await withPractice(join(folder, 'buffered'), { patients: PATIENTS }, signal, async (buffered) => {
    const data = join(folder, 'strict');
    cpSync(join(folder, 'buffered', 'data'), data, {
      recursive: true,
      filter: (from) => !from.endsWith('server.lock'),
    });
    const flags = ['--data', data, '--rate-limit', '1000000', '--audit', 'strict'];
    await withServer(flags, buffered.env, async (url, { child }) => {
      pinServer(child.pid);
      const strict = { port: Number(new URL(url).port), pid: child.pid };
      const targetOf = ({ port, pid }, { path, size }) => ({
        ...{ port, pid, connections: CONNECTIONS },
        requests: reads(PATIENTS, HEADERS, path, size),
      });
      const targets = Object.fromEntries(
        KINDS.flatMap((kind) => [
          [`strict ${kind.what}`, targetOf(strict, kind)],
          [`buffered ${kind.what}`, targetOf(buffered, kind)],
        ]),
      );
      const found = Object.fromEntries(Object.keys(targets).map((name) => [name, { rates: [], costs: [] }]));
      await withLoad(folder, targets, async (run) => {
        for (const name of Object.keys(targets)) await run([name], milliseconds, { awake: true });
        for (let round = 0; round < count; round++) {
          for (const name of Object.keys(targets)) {
            signal.throwIfAborted();
            const [{ rate, cost }] = await run([name], milliseconds, { awake: true });
            found[name].rates.push(rate);
            found[name].costs.push(cost);
          }
        }
      });
      for (const { what } of KINDS) {
        const [ours, theirs] = [found[`strict ${what}`], found[`buffered ${what}`]];
        const against = 'buffered';
        report.ratio({ what, ours: ours.rates, theirs: theirs.rates, against, unit: '/s' });
        // Where only Linux tells, and what other work on the machine hardly changes.
        if (ours.costs.some((cost) => !(cost > 0))) continue;
        const costs = { ours: ours.costs, theirs: theirs.costs, against, unit: 'µs', faster: true };
        report.ratio({ what: `${what}: processor time`, ...costs });
      }
    });
  });
}
