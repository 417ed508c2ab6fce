import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { drive } from '../../faithful/driving.ts';
import { faultsOf } from '../../faithful/faults.ts';
import { moodsOf } from '../../faithful/moods.ts';
import { Draws } from '../../faithful/random.ts';
import type { Resource } from '../../faithful/store.ts';
import { queried, TABLES } from './oracle.ts';
import { bytesBelow, Finder, originalsOf } from './originals.ts';

const RESOURCES = [
  'patients',
  'transactions',
  'documents',
  'events',
  'missedappointments',
] as const satisfies Resource[];

/** Words of the tables themselves, which a record may have too. */
function wordsOf(file: string): Buffer {
  const rows = [...queried(file, 'SELECT sql FROM sqlite_schema'), ...queried(file, 'SELECT * FROM _columns')];
  return Buffer.from(JSON.stringify(rows).replaceAll('\\n', ' '));
}

it.each(['1', '2'])(
  'seed %s: of a service that keeps the specification and no more no original is kept',
  async (seed) => {
    const draws = new Draws(`de-identified ${seed}`);
    const driven = await drive({ seed, moods: moodsOf(seed), faults: faultsOf(seed, 0) });
    try {
      const { service, folder } = driven;
      const file = join(folder, 'safe.db');
      const line = ['mirror', 'sync', ...RESOURCES, '--to', file, '--json', '--deidentify', join(folder, 'the.key')];
      const known = new Set<string>();
      for (let round = 0; round < 2; round++) {
        for (const resource of RESOURCES)
          for (const original of originalsOf(service.reachable(resource))) known.add(original);
        const ran = await driven.molar(line);
        expect(ran.exitCode, ran.stderr).toBe(0);
        for (const resource of RESOURCES) {
          const records = service.reachable(resource);
          expect(queried(file, `SELECT count(*) AS n FROM ${TABLES[resource]}`), resource).toEqual([
            { n: records.length },
          ]);
        }
        const cents = service
          .reachable('transactions')
          .reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0);
        expect(queried(file, 'SELECT sum(amount_cents) AS cents FROM transactions')).toEqual([{ cents }]);
        const wanted = service
          .reachable('patients')
          .map(({ gender, state, patientStatus }) => [gender, state, patientStatus].join());
        const kept = queried(file, 'SELECT gender, state, patient_status FROM patients').map((row) =>
          Object.values(row).join(),
        );
        expect(kept.toSorted()).toEqual(wanted.toSorted());
        for (const resource of RESOURCES) {
          const ids = service.reachable(resource).map(({ id }) => Number(id));
          for (let count = draws.whole(1, 3); count > 0; count--) service.add(resource);
          for (const id of draws.shuffled(ids).slice(0, 2)) service.edit(resource, id, {});
          for (const id of draws.shuffled(ids).slice(2, 4)) service.remove(resource, id);
        }
      }
      // Whose copy it is, the copy says.
      for (const { organization } of queried(file, 'SELECT organization FROM _mirror'))
        known.delete(String(organization));
      const words = new Finder(known).in(wordsOf(file));
      const finder = new Finder([...known].filter((original) => !words.has(original)));
      expect(finder.count).toBeGreaterThan(100);
      expect([...finder.in(await bytesBelow(folder))]).toEqual([]);
    } finally {
      await driven.close();
      await rm(driven.folder, { recursive: true, force: true });
    }
  },
);
