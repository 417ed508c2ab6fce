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

/** The resource table that a table belongs to: itself, that of its tombstones or versions, or that of a child table. */
function mirroredTable(name: string, mirrored: readonly MirroredTable[]): MirroredTable | undefined {
  const wanted = name.toLowerCase();
  const own = mirrored.find(({ tableName }) => ['', '_deleted', '_history'].some((end) => wanted === tableName + end));
  if (own !== undefined) return own;
  const parents = mirrored.filter(({ tableName }) => wanted.startsWith(`${singular(tableName)}_`));
  return parents.sort((a, b) => b.tableName.length - a.tableName.length)[0];
}

function singular(table: string): string {
  return table.endsWith('ies') ? `${table.slice(0, -3)}y` : table.replace(/s$/, '');
}
