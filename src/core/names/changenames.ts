import { dirname } from 'node:path';
import { holdLock, type LockOwner } from '../lockfile.ts';
import { guarded } from '../output/atomicfile.ts';
import { makeOwnFolder } from '../output/ownfile.ts';
import { keyOf, type NameParts, type NameRow, unnamed } from './namerows.ts';
import { Names } from './namesfile.ts';

/** Milliseconds to wait for another command that changes the file. */
const LOCK_TIMEOUT = 5000;

/** How a change left the rows of a file. */
export interface NamesChange {
  readonly names: Names;
  /** Rows that were not there before. */
  readonly added: readonly NameRow[];
  /** Rows that were there, and differ. */
  readonly changed: number;
  readonly removed: number;
}

/**
 * Changes a names file, one command at a time, so that `change` sees what the previous one wrote; without a difference it
 * is left as it is. Throws a Failure (exit 9) when the file cannot be read or written, and what `change` throws.
 */
export async function changeNames(
  file: string,
  change: (names: Names) => readonly NameRow[],
  owner: LockOwner,
): Promise<NamesChange> {
  await guarded(`make the folder ${dirname(file)}`, () => makeOwnFolder(dirname(file)));
  const release = await holdLock(`${file}.lock`, 'The names file', owner, LOCK_TIMEOUT);
  try {
    const before = Names.read(file);
    const names = new Names(change(before));
    const made = difference(before, names);
    if (made.added.length + made.changed + made.removed > 0) await names.write(file);
    return made;
  } finally {
    await release();
  }
}

function difference(before: Names, names: Names): NamesChange {
  const known = names.rows.map((row) => ({ row, earlier: before.rowOf(row.kind, row.id) }));
  const added = known.filter(({ earlier }) => earlier === undefined).map(({ row }) => row);
  const changed = known.filter(({ row, earlier }) => earlier !== undefined && !isSame(row, earlier)).length;
  return { names, added, changed, removed: before.rows.length - (names.rows.length - added.length) };
}

function isSame(a: NameRow, b: NameRow): boolean {
  return a.name === b.name && a.timezone === b.timezone && a.order === b.order;
}

/** Rows with others added, which replace what they tell of those of the same kind and id. */
export function withRows(names: Names, rows: readonly NameParts[]): NameRow[] {
  const whole = rows.map((row) => ({ ...(names.rowOf(row.kind, row.id) ?? unnamed(row)), ...row }));
  return [...new Map([...names.rows, ...whole].map((row) => [keyOf(row), row])).values()];
}

/** Rows with those of others whose kind and id are not there yet. */
export function withNewRows(names: Names, rows: readonly NameRow[]): NameRow[] {
  return [...names.rows, ...rows.filter(({ kind, id }) => names.rowOf(kind, id) === undefined)];
}
