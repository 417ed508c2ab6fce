import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Driven } from '../../faithful/driving.ts';
import { Draws } from '../../faithful/random.ts';
import type { Resource } from '../../faithful/store.ts';
import { queried, TABLES, wrongTables } from './oracle.ts';
import { CHOSEN, driveSeed, seedsOf } from './seeds.ts';

const SEEDS = seedsOf(CHOSEN.mirror);
const HOUR = 3_600_000;
/** The specification lists no list of appointments; reasons have no list of all. */
const RESOURCES = Object.keys(TABLES).filter(
  (name) => name !== 'scheduletemplatereasons' && name !== 'appointments',
) as Resource[];
/** Paths that a service need not have, and that are asked for nevertheless. */
const BEYOND = ['/api/v1/stream', '/api/v1/appointments'];
const FIXED: readonly Resource[] = ['appointmenthistories'];

/** Adds, edits and removes a few records of every resource, and corrects a few transactions; gives the ids of those that are gone. */
function changeSome({ service }: Driven, draws: Draws): Map<Resource, number[]> {
  const gone = new Map<Resource, number[]>();
  for (const resource of RESOURCES) {
    const before = service.reachable(resource);
    if (before.length === 0) continue;
    for (let count = draws.whole(0, 3); count > 0; count--) service.add(resource);
    const others = draws.shuffled(before.map(({ id }) => Number(id)));
    if (FIXED.includes(resource)) continue;
    for (const id of others.slice(0, draws.whole(0, 3))) service.edit(resource, id, {});
    const removed = others.slice(3, 3 + draws.whole(0, 2));
    for (const id of removed) service.remove(resource, id);
    gone.set(resource, removed);
  }
  const active = service.records('transactions').filter(({ isActive }) => isActive);
  for (const { id } of draws.shuffled(active).slice(0, draws.whole(0, 2))) service.correct(Number(id));
  return gone;
}

function wrong({ service }: Driven, file: string, among: readonly Resource[]): Record<string, string[]> {
  return wrongTables(file, new Map(among.map((resource) => [resource, service.reachable(resource)])), among);
}

/** Resources that a sync reported as whole. */
function whole(stdout: string): Resource[] {
  const { resources } = JSON.parse(stdout) as { resources: { resource: Resource; complete: boolean }[] };
  return resources
    .filter(({ complete, resource }) => complete && RESOURCES.includes(resource))
    .map(({ resource }) => resource);
}

describe('a mirror of a service that keeps the specification and no more', () => {
  it.each(SEEDS)('seed %s: has what the service has after every sync, and tombstones of what is gone', async (seed) => {
    const draws = new Draws(`mirror ${seed}`);
    const driven = await driveSeed(seed, draws);
    try {
      const file = join(driven.folder, 'practice.db');
      const line = ['mirror', 'sync', '--to', file, '--json', '--timezone', driven.service.practice.zone];
      const gone = new Map<Resource, number[]>();
      for (let round = 0; round < 3; round++) {
        const ran = await driven.molar(line);
        expect([0, 6], ran.stderr).toContain(ran.exitCode);
        const among = whole(ran.stdout);
        if (ran.exitCode === 0) expect(among).toHaveLength(RESOURCES.length);
        expect(wrong(driven, file, among)).toEqual({});
        for (const resource of among) {
          const deleted = queried(file, `SELECT id FROM ${TABLES[resource]}_deleted`).map(({ id }) => Number(id));
          expect(deleted).toEqual(expect.arrayContaining(gone.get(resource) ?? []));
        }
        gone.clear();
        await driven.clock.sleep(draws.whole(0, 50) * HOUR);
        for (const [resource, ids] of changeSome(driven, draws)) gone.set(resource, ids);
        await driven.clock.sleep(draws.whole(0, 50) * HOUR);
      }
      expect(driven.service.violations.filter(({ path }) => !BEYOND.includes(path))).toEqual([]);
    } finally {
      await driven.close();
    }
  });
});
