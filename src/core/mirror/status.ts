import type { MirrorFacts, ResourceState } from './store.ts';
import type { MirrorTable } from './tables.ts';

/** Who is writing to a mirror. */
export interface LockStatus {
  readonly pid: number | null;
  readonly command: string | null;
  /** UTC. */
  readonly since: string | null;
}

/** What `molar mirror status --json` says (D52). */
export interface MirrorStatus {
  readonly file: string;
  readonly organization: string;
  readonly url: string;
  readonly complete: boolean;
  readonly asOf: string | null;
  readonly position: string | null;
  readonly history: boolean;
  readonly deidentified: boolean;
  readonly files: string | null;
  readonly lock: LockStatus | null;
  readonly resources: readonly ResourceStatus[];
}

/** One resource of it. */
export interface ResourceStatus {
  readonly resource: string;
  readonly table: string;
  readonly rows: number;
  readonly deleted: number;
  readonly complete: boolean;
  readonly asOf: string | null;
  readonly changes: ResourceState['changes'];
  readonly deletes: ResourceState['deletes'];
  readonly verifiedAt: string | null;
  readonly unavailable: string | null;
}

type States = ReadonlyMap<MirrorTable, ResourceState>;

/** The status of a mirror. */
export function statusOf(file: string, facts: MirrorFacts, states: States, lock: LockStatus | null): MirrorStatus {
  const { organization, url, history, deidentified = null, files = null } = facts;
  const resources = [...states].map(([{ resource, name }, state]): ResourceStatus => {
    const { rows, deletedRows, complete, asOf, changes, deletes, verifiedAt, unavailable } = state;
    const more = { complete, asOf, changes, deletes, verifiedAt, unavailable };
    return { resource: resource.name, table: name, rows, deleted: deletedRows, ...more };
  });
  return {
    ...{ file, organization, url },
    ...wholeOf(states),
    ...{ history, deidentified: deidentified !== null, files, lock, resources },
  };
}

/**
 * What is true of all tables together, but for those that the service does not give: as of when, and at which position of
 * the stream if it is the same one.
 */
export function wholeOf(states: States): Pick<MirrorStatus, 'complete' | 'asOf' | 'position'> {
  const given = [...states.values()].filter(({ unavailable, complete }) => complete || unavailable === null);
  const complete = given.length > 0 && given.every((state) => state.complete);
  const [oldest = null] = given.map(({ asOf }) => asOf ?? '').sort();
  const positions = new Set(given.map(({ position }) => position));
  const [position = null] = positions;
  return { complete, asOf: complete ? oldest : null, position: complete && positions.size === 1 ? position : null };
}
