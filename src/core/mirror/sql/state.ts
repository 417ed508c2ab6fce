import type { LoadProgress, MirrorFacts, ResourceState } from '../store.ts';
import type { LocalZones } from '../zones.ts';
import type { Bound, MirrorDatabase } from './database.ts';

/** What `_mirror` holds of a resource. */
type PublicState = Omit<ResourceState, 'since' | 'progress'>;

/** The columns of `_mirror` that change, and what they hold. */
const STATE_COLUMNS = [
  ['rows', 'rows'],
  ['deleted_rows', 'deletedRows'],
  ['complete', 'complete'],
  ['as_of', 'asOf'],
  ['position', 'position'],
  ['changes', 'changes'],
  ['deletes', 'deletes'],
  ['verified_at', 'verifiedAt'],
  ['unavailable', 'unavailable'],
] as const satisfies readonly (readonly [string, keyof PublicState])[];

const STATES = 'SELECT m.*, p.since, p.read FROM _mirror AS m LEFT JOIN _progress AS p ON p.resource = m.resource';

/** The state of a resource. */
export async function readResource(database: MirrorDatabase, resource: string): Promise<ResourceState> {
  const [row = {}] = await database.rows(`${STATES} WHERE m.resource = :resource`, { resource });
  return stateOf(row);
}

/** The states of all resources, by name. */
export async function readResources(database: MirrorDatabase): Promise<ReadonlyMap<string, ResourceState>> {
  const rows = await database.rows<Readonly<Record<string, unknown>>>(STATES);
  return new Map(rows.map((row) => [String(row.resource), stateOf(row)]));
}

function stateOf(row: Readonly<Record<string, unknown>>): ResourceState {
  const state = Object.fromEntries(STATE_COLUMNS.map(([column, name]) => [name, row[column]]));
  const { since = null, read = null } = row as { since?: string | null; read?: string | null };
  return {
    ...(state as unknown as PublicState),
    complete: Boolean(row.complete),
    since,
    progress: read === null ? null : (JSON.parse(read) as LoadProgress),
  };
}

/** Changes the state of a resource. */
export async function writeResource(
  database: MirrorDatabase,
  resource: string,
  changed: Partial<ResourceState>,
): Promise<void> {
  const state = { ...(await readResource(database, resource)), ...changed };
  const columns = STATE_COLUMNS.map(([column]) => `${column} = :${column}`).join(', ');
  const bound: Bound = Object.fromEntries(STATE_COLUMNS.map(([column, name]) => [column, state[name]]));
  await database.run(`UPDATE _mirror SET ${columns} WHERE resource = :resource`, { ...bound, resource });
  const { since, progress } = state;
  const read = progress === null ? null : JSON.stringify(progress);
  await database.run(
    `INSERT INTO _progress (resource, since, read) VALUES (:resource, :since, :read)
    ON CONFLICT (resource) DO UPDATE SET since = excluded.since, read = excluded.read`,
    { resource, since, read },
  );
}

/** What a mirror says of itself. */
interface Facts {
  readonly facts: MirrorFacts;
  /** Of local times. */
  readonly zones: LocalZones;
  /** Ids of all locations that were asked for their records. */
  readonly locations: readonly string[];
}

/** What a mirror says of itself; nothing where it was just made. */
export async function readFacts(database: MirrorDatabase): Promise<Partial<Facts>> {
  const rows = await database.rows<{ name: string; value: string }>('SELECT name, value FROM _facts');
  return Object.fromEntries(rows.map(({ name, value }) => [name, JSON.parse(value)]));
}

/** Changes what a mirror says of itself. */
export async function writeFact<Name extends keyof Facts>(
  database: MirrorDatabase,
  name: Name,
  value: Facts[Name],
): Promise<void> {
  await database.run(
    'INSERT INTO _facts (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    { name, value: JSON.stringify(value) },
  );
}
