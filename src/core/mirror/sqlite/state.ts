import type { Connection } from '../../../sqlite/open.ts';
import type { LoadProgress, MirrorFacts, ResourceState } from '../store.ts';
import type { LocalZones } from '../zones.ts';

/** What `_mirror` holds of a resource. */
type PublicState = Omit<ResourceState, 'since' | 'progress'>;

/** The columns of `_mirror` that change, and what they hold. */
export const STATE_COLUMNS = [
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

/** The values of these columns. */
export function stateValues(state: PublicState): (string | number | null)[] {
  return STATE_COLUMNS.map(([, name]) => {
    const value = state[name];
    return typeof value === 'boolean' ? Number(value) : value;
  });
}

/** The state of a resource. */
export function readResource(connection: Connection, resource: string): ResourceState {
  const row = connection.prepare('SELECT * FROM _mirror WHERE resource = ?').get(resource) as Record<string, unknown>;
  const progress = connection.prepare('SELECT since, read FROM _progress WHERE resource = ?').get(resource) as
    | { since: string | null; read: string | null }
    | undefined;
  const state = Object.fromEntries(STATE_COLUMNS.map(([column, name]) => [name, row[column]]));
  return {
    ...(state as unknown as PublicState),
    complete: row.complete === 1,
    since: progress?.since ?? null,
    progress: progress?.read == null ? null : (JSON.parse(progress.read) as LoadProgress),
  };
}

/** What a file says of itself; nothing where it was just made. */
export function readFacts(connection: Connection): {
  readonly facts?: MirrorFacts;
  readonly zones?: LocalZones;
  readonly locations?: readonly string[];
} {
  const rows = connection.prepare('SELECT name, value FROM _facts').all() as { name: string; value: string }[];
  return Object.fromEntries(rows.map(({ name, value }) => [name, JSON.parse(value)]));
}
