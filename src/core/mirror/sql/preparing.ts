import { quoted } from '../names.ts';
import type { MirrorFacts } from '../store.ts';
import { MIRROR_TABLES } from '../tables.ts';
import type { InstantOf } from '../values.ts';
import { ELSEWHERE } from '../views.ts';
import { type LocalZones, zonesText } from '../zones.ts';
import type { MirrorDatabase, Target } from './database.ts';
import { offsetsOf } from './offsets.ts';
import { ownTables } from './schema.ts';
import { readFacts, readResource, readResources, writeFact, writeResource } from './state.ts';
import type { TableSet } from './tableset.ts';

/** What a mirror needs besides its facts. */
export interface MirrorOptions {
  /** Of local times in views. */
  readonly zones: LocalZones;
  /** Reads times without a zone. */
  readonly instantOf: InstantOf;
  /** UTC milliseconds. */
  readonly now: () => number;
}

/** A mirror that is being opened. */
interface Prepared {
  readonly database: MirrorDatabase;
  readonly tables: TableSet;
  readonly facts: MirrorFacts;
}

/** Makes a database the mirror that its facts describe; to be used within a transaction. */
export async function prepareMirror(mirror: Prepared, options: MirrorOptions): Promise<void> {
  const { database, tables, facts } = mirror;
  const isNew = await database.isNew();
  if (isNew) await database.script(ownTables(database.dialect));
  if (isNew) await database.mark();
  const before = (await readFacts(database)).facts;
  if (isNew) await create(mirror);
  else await upgrade(mirror);
  if (!isNew && facts.history && !before?.history) await beginHistory(mirror, options.now());
  await writeFacts(mirror);
  if (facts.deidentified) await tables.ageOut(options.now());
  if (before !== undefined && before.url !== facts.url) await distrust(mirror);
  await writeZones(mirror, options.zones);
}

async function create({ database, tables, facts: { organization, url } }: Prepared): Promise<void> {
  await tables.create();
  const counts: readonly Target[] = ['rows', 'deleted_rows'].map((name) => ({ name, type: 'integer' }));
  const complete: Target = { name: 'complete', type: 'boolean' };
  const names = [...texts('resource', 'table_name', 'organization', 'url', 'about'), ...counts, complete];
  const rows = MIRROR_TABLES.map(({ resource, name }) => {
    return [resource.name, name, organization, url, resource.about, 0, 0, 0];
  });
  await database.insert('_mirror', names, rows);
}

/** Adds what a mirror of an older version may lack: indexes, and zones of locations. */
async function upgrade({ database, tables }: Prepared): Promise<void> {
  const states = await readResources(database);
  await tables.createIndexes(MIRROR_TABLES.filter(({ resource }) => states.get(resource.name)?.complete === true));
  await tables.addZones();
}

/** Tables that are being loaded get their first versions when they are whole. */
async function beginHistory({ database, tables }: Prepared, now: number): Promise<void> {
  await tables.createHistory();
  const at = new Date(now).toISOString();
  for (const table of MIRROR_TABLES)
    if ((await readResource(database, table.resource.name)).complete) await tables.beginHistory(table, at);
}

/** Another service answers from now on: whole tables have to be compared with it, the others are loaded anew. */
async function distrust({ database, tables }: Prepared): Promise<void> {
  for (const table of tables.tables) {
    const { name: resource } = table.resource;
    if (!(await readResource(database, resource)).complete)
      for (const { name } of [table, ...table.children]) await database.run(`DELETE FROM ${quoted(name)}`);
    await writeResource(database, resource, { position: null, since: null, progress: null });
  }
}

async function writeFacts({ database, facts }: Prepared): Promise<void> {
  await writeFact(database, 'facts', facts);
  await database.run('UPDATE _mirror SET url = :url WHERE url <> :url', { url: facts.url });
}

async function writeZones({ database }: Prepared, zones: LocalZones): Promise<void> {
  if (JSON.stringify((await readFacts(database)).zones) === JSON.stringify(zones)) return;
  await writeFact(database, 'zones', zones);
  await database.script('DELETE FROM _zones; DELETE FROM _offsets');
  const rows = [[String(ELSEWHERE), zones.zone] as const, ...zones.locations];
  const location: Target = { name: 'location_id', type: 'integer' };
  await database.insert(
    '_zones',
    [location, ...texts('zone')],
    rows.map(([id, zone]) => [BigInt(id), zone]),
  );
  const names = [...new Set(rows.map(([, zone]) => zone))];
  const offsets = names.flatMap((zone) => offsetsOf(zone).map(({ since, seconds }) => [zone, since, seconds]));
  await database.insert('_offsets', [...texts('zone', 'since'), { name: 'seconds', type: 'integer' }], offsets);
  for (const { resource } of MIRROR_TABLES) {
    const about = `${resource.about}. ${zonesText(zones)}`;
    await database.run('UPDATE _mirror SET about = :about WHERE resource = :name', { about, name: resource.name });
  }
}

/** Columns of text. */
function texts(...names: readonly string[]): Target[] {
  return names.map((name) => ({ name, type: 'text' }));
}
