import { MIRROR_TABLES } from '../mirror/tables.ts';
import type { FaultFacts } from './fault.ts';

/** A row of `_mirror`, as far as it is needed here (D52). */
export interface MirroredTable {
  readonly resource: string;
  readonly tableName: string;
  readonly organization: string;
  /** What stands before `/api/v1`. */
  readonly url: string;
  /** The first load is finished. */
  readonly complete: boolean;
  /** When it was true, UTC. */
  readonly asOf: string | null;
  readonly unavailable: string | null;
}

/** The fault of a query that reads a table whose first load is not finished; undefined where all are. */
export function unfinishedTable(read: readonly string[], mirrored: readonly MirroredTable[]): FaultFacts | undefined {
  for (const name of read) {
    const table = mirroredTable(name, mirrored);
    if (table === undefined || table.complete) continue;
    return incomplete(name, table);
  }
  return undefined;
}

/** The fault of reading a table that is not loaded. */
export function incomplete(name: string, { resource, unavailable }: MirroredTable): FaultFacts {
  const why = unavailable === null ? 'its first load is not finished' : `it is not available: ${unavailable}`;
  const message = `the table ${name} is not complete: ${why.replace(/\.$/, '')}`;
  const hint = `Run molar mirror sync ${resource}, or add --partial to read what is there.`;
  return { kind: 'incomplete', name, message, hint };
}

/** What is known of the resource that a table is of: its own, that of its tombstones or versions, or one of its lists. */
function mirroredTable(name: string, mirrored: readonly MirroredTable[]): MirroredTable | undefined {
  const wanted = name.replace(/_(?:deleted|history)$/i, '').toLowerCase();
  const table = MIRROR_TABLES.find((each) => [each, ...each.children].some((part) => part.name === wanted));
  return mirrored.find(({ tableName }) => tableName === (table?.name ?? wanted));
}
