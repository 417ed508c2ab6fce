import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Connection, openConnection } from '../../../src/sqlite/open.ts';
import type { Driven } from '../../faithful/driving.ts';
import { Draws } from '../../faithful/random.ts';
import type { Resource } from '../../faithful/store.ts';
import { TABLES, wrongTables } from './oracle.ts';
import { CHOSEN, driveSeed, seedsOf } from './seeds.ts';

const SEEDS = seedsOf(CHOSEN.verify);
const HOUR = 3_600_000;
/** The specification lists no list of appointments; reasons have no list of all. */
const RESOURCES = Object.keys(TABLES).filter(
  (name) => name !== 'scheduletemplatereasons' && name !== 'appointments',
) as Resource[];

interface Found {
  readonly resource: Resource;
  readonly complete: boolean;
  readonly missing: string[];
  readonly extra: string[];
  readonly different: { readonly id: string }[];
}

/** Ids that were found to differ, and resources that were compared. */
function found(stdout: string): { readonly wrong: string[]; readonly whole: Resource[] } {
  const { resources } = JSON.parse(stdout) as { resources: Found[] };
  const wrong = resources.flatMap(({ resource, missing, extra, different }) => [
    ...missing.map((id) => `${resource} ${id} missing`),
    ...extra.map((id) => `${resource} ${id} extra`),
    ...different.map(({ id }) => `${resource} ${id} different`),
  ]);
  const whole = resources.filter(({ complete }) => complete).map(({ resource }) => resource);
  return { wrong, whole: whole.filter((resource) => RESOURCES.includes(resource)) };
}

/** Damages one row of each table in one way, and says what is wrong with it. */
function damageEach(file: string, resources: readonly Resource[], draws: Draws): string[] {
  const connection = openConnection(file);
  try {
    return resources.flatMap((resource) => damageOne(connection, resource, draws) ?? []);
  } finally {
    connection.close();
  }
}

function damageOne(connection: Connection, resource: Resource, draws: Draws): string | undefined {
  const table = TABLES[resource] ?? '';
  const ids = connection.prepare(`SELECT id FROM ${table} ORDER BY id`).pluck().all().map(String);
  if (ids.length === 0) return undefined;
  const id = draws.one(ids);
  switch (draws.whole(1, 3)) {
    case 1:
      connection.exec(`DELETE FROM ${table} WHERE id = ${id}`);
      return `${resource} ${id} missing`;
    case 2:
      connection.exec(`INSERT INTO ${table} (id, _synced_at, _record) VALUES (3, '', '{"id":3}')`);
      return `${resource} 3 extra`;
    default: {
      const columns = connection.pragma(`table_info(${table})`) as { name: string }[];
      const names = columns.map(({ name }) => name).filter((name) => !/^(id|_.*)$/.test(name));
      connection.exec(`UPDATE ${table} SET "${draws.one(names)}" = 'x' WHERE id = ${id}`);
      return `${resource} ${id} different`;
    }
  }
}

function wrong({ service }: Driven, file: string, among: readonly Resource[]): Record<string, string[]> {
  return wrongTables(file, new Map(among.map((resource) => [resource, service.reachable(resource)])), among);
}

function changeSome({ service }: Driven, draws: Draws): void {
  for (const resource of RESOURCES) {
    const ids = draws.shuffled(service.reachable(resource).map(({ id }) => Number(id)));
    if (ids.length < 8) continue;
    for (let count = draws.whole(0, 2); count > 0; count--) service.add(resource);
    if (resource === 'appointmenthistories') continue;
    for (const id of ids.slice(0, draws.whole(0, 2))) service.edit(resource, id, {});
    for (const id of ids.slice(2, 2 + draws.whole(0, 1))) service.remove(resource, id);
  }
}

describe('molar mirror verify, with a service that keeps the specification and no more', () => {
  it.each(SEEDS)('seed %s: names the damage, takes no change for one, and mends it', async (seed) => {
    const draws = new Draws(`verify ${seed}`);
    const driven = await driveSeed(seed, draws);
    try {
      const file = join(driven.folder, 'practice.db');
      const run = (...words: string[]) => driven.molar(['mirror', ...words, '--to', file, '--json']);
      const zone = driven.service.practice.zone;
      expect([0, 6]).toContain((await run('sync', '--timezone', zone)).exitCode);
      await driven.clock.sleep(draws.whole(0, 50) * HOUR);
      changeSome(driven, draws);
      const late = await run('verify');
      expect([0, 6], late.stderr).toContain(late.exitCode);
      expect(found(late.stdout).wrong).toEqual([]);
      expect(wrong(driven, file, found(late.stdout).whole)).toEqual({});

      const before = found(late.stdout).whole;
      const damages = damageEach(file, before, draws);
      const seen = await run('verify');
      const { whole, wrong: named } = found(seen.stdout);
      expect(named.toSorted()).toEqual(
        damages.filter((text) => whole.some((name) => text.startsWith(`${name} `))).toSorted(),
      );
      await driven.clock.sleep(draws.whole(0, 50) * HOUR);
      const mended = await run('verify', '--repair');
      expect([0, 6], mended.stderr).toContain(mended.exitCode);
      expect(wrong(driven, file, found(mended.stdout).whole)).toEqual({});
    } finally {
      await driven.close();
    }
  });
});
