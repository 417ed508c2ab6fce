import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import NamesLearn from '../../../src/commands/names/learn.ts';
import { openConnection } from '../../../src/sqlite/open.ts';
import { runCommand } from '../../cli/runcommand.ts';
import { type Faithful, startFaithful } from '../../faithful/service.ts';
import { openNetwork } from './network.ts';
import { queried } from './oracle.ts';

let service: Faithful;
const folder = mkdtempSync(join(tmpdir(), 'molar-mirror-'));
const names = join(folder, 'names', 'default.csv');

beforeAll(async () => {
  service = await startFaithful({ seed: 'zones', moods: {}, practice: { events: 60, patients: 20 } });
  mkdirSync(join(folder, 'names'));
});

afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

const world = () => ({
  clock: { now: Date.now, sleep: async () => {} },
  openNetwork,
  env: { ...service.env, MOLAR_CONFIG_DIR: folder, TZ: 'Asia/Kathmandu' },
});
const file = join(folder, 'mirror', 'default.db');

async function sync(...words: string[]) {
  const ran = await runCommand('mirror:sync', MirrorSync, words, world());
  expect(ran.exitCode, ran.stderr).toBe(0);
}

/** The local date and time of an instant, by a formatter that molar does not use. */
function shown(instant: unknown, timeZone: string): string {
  const options = { timeZone, dateStyle: 'short', timeStyle: 'medium' } as const;
  return new Intl.DateTimeFormat('sv-SE', options).format(new Date(String(instant)));
}

/** Checks every local time of the views against the zones of the locations. */
function check(zoneOf: (location: unknown) => string): void {
  const rows = queried(file, 'SELECT start, start_local, end_local, "end", location_id FROM v_events');
  expect(rows.length).toBeGreaterThan(20);
  for (const { start, start_local, end, end_local, location_id } of rows) {
    expect([start_local, end_local]).toEqual([start, end].map((at) => shown(at, zoneOf(location_id))));
  }
  for (const { id, last_modified, last_modified_local, preferred_location_id } of queried(
    file,
    'SELECT * FROM v_patients WHERE last_modified IS NOT NULL',
  )) {
    expect(last_modified_local, `patient ${id}`).toBe(shown(last_modified, zoneOf(preferred_location_id)));
  }
  for (const { start, start_local, location_id } of queried(file, 'SELECT * FROM v_schedule')) {
    expect(start_local).toBe(shown(start, zoneOf(location_id)));
  }
}

it('views have the local times of each location, as the names file tells its zone at the last sync', async () => {
  const [first, second] = [...new Set(service.records('events').map((record) => idOf(record.location)))];
  rmSync(names, { force: true });
  await sync();
  check(() => 'Asia/Kathmandu');
  writeFileSync(names, `kind,id,name,timezone\nlocation,${first},Main,America/Denver\nlocation,${second},Lake,\n`);
  await sync('--timezone', 'Europe/Berlin');
  check((location) => (String(location) === first ? 'America/Denver' : 'Europe/Berlin'));
  expect(queried(file, "SELECT about FROM _mirror WHERE resource = 'events'")[0]?.about).toContain(
    `Local times are those of each location: location ${first} America/Denver; elsewhere Europe/Berlin.`,
  );
  // Only one of two that are used changes.
  writeFileSync(names, `kind,id,name,timezone\nlocation,${second},Lake,America/Denver\n`);
  await sync();
  check((location) => (String(location) === second ? 'America/Denver' : 'Europe/Berlin'));
  rmSync(names);
  // A file as an older version made it.
  const older = openConnection(file);
  older.exec(`DROP VIEW v_events; CREATE VIEW v_events AS SELECT * FROM events;
    DROP TABLE _zones; DROP TABLE _offsets; DELETE FROM _facts WHERE name = 'zones';
    CREATE TABLE _offsets (since TEXT PRIMARY KEY, seconds INTEGER NOT NULL) WITHOUT ROWID`);
  older.close();
  await sync();
  check(() => 'Europe/Berlin');
});

it('names are learned from it without a request', async () => {
  writeFileSync(names, 'kind,id,name\n');
  await sync();
  const before = service.requests.length;
  const ran = await runCommand('names:learn', NamesLearn, [], world());
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(service.requests).toHaveLength(before);
  const records = ['patients', 'events', 'transactions', 'missedappointments', 'appointmenthistories'];
  const all = records.flatMap((name) => service.records(name as 'patients'));
  const links = {
    location: ['location', 'preferredLocation'],
    provider: ['provider', 'primaryProvider'],
    operatory: ['operatory'],
  };
  const expected = Object.entries(links).flatMap(([kind, fields]) => {
    const ids = all.flatMap((record) => fields.map((field) => idOf(record[field])));
    return [...new Set(ids)].filter((id) => id !== undefined).map((id) => `${kind},${id},,,`);
  });
  expect(expected.length).toBeGreaterThan(3);
  const learned = readFileSync(names, 'utf8').split('\n').slice(1, -1);
  expect(new Set(learned)).toEqual(new Set(expected));
});

function idOf(link: unknown): string | undefined {
  const { id } = (link ?? {}) as { id?: unknown };
  return id === undefined || id === null ? undefined : String(id);
}
