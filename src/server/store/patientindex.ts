import { type IdMember, readIdList } from '../audit/idlist.ts';
import { bound, insertStatements, type Texts } from './statement.ts';
import type { Writing } from './store.ts';

/** What of an entry of the audit log says whose data it tells of, as it is stored. */
export interface IndexedEntry {
  readonly id: number;
  readonly org: number | null;
  readonly operation: string;
  readonly ids: string | null;
  readonly patients: string | null;
  readonly covers_all: number | null;
}

/** Entries of at most so many patients have a row for each; those of more have one for each block of 64 ids. */
const MAX_SINGLE = 16;

/** The bucket of entries that held everything. */
export const ALL_PATIENTS = 0;

const BLOCK = 64;

/** Blocks of an entry: more would be a list that somebody else wrote, for instance to keep whoever verifies it busy. */
const MAX_BLOCKS = 1_000_000;

/** The bucket of the block of ids that a patient is in: negative, so that it is nobody's id. */
export function blockOf(patient: number): number {
  return -1 - Math.floor(patient / BLOCK);
}

/** The exact lists of whose data an entry tells: its patients, and the records themselves where those are patients. */
export function patientsOfEntry({ operation, ids, patients }: Omit<IndexedEntry, 'id'>): readonly IdMember[] {
  // Most entries of patients say the same twice.
  const own = operation.startsWith('patients.') && ids !== patients ? readIdList(ids) : [];
  return [...readIdList(patients), ...own];
}

/** The buckets under which an entry is found. Throws for lists that cannot be read, or that no entry can have. */
export function bucketsOf(entry: Omit<IndexedEntry, 'id'>): Set<number> {
  const ranges = patientsOfEntry(entry).flatMap((member): (readonly [number, number])[] => {
    if (typeof member === 'number') return [[member, member]];
    return typeof member === 'string' ? [] : [member];
  });
  const buckets = new Set<number>(entry.covers_all === null ? [] : [ALL_PATIENTS]);
  const blocks = ranges.reduce((sum, [first, last]) => sum + blockOf(first) - blockOf(last) + 1, 0);
  if (blocks > MAX_BLOCKS) throw new RangeError('More patients than an entry can tell of.');
  const count = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  for (const [first, last] of ranges) {
    if (count <= MAX_SINGLE) for (let id = first; id <= last; id++) buckets.add(id);
    else for (let block = blockOf(first); block >= blockOf(last); block--) buckets.add(block);
  }
  return buckets;
}

/** The rows of an entry. One whose lists molar did not write has none: verification names it, and it stops no other. */
function rowsOf(entry: IndexedEntry): number[][] {
  try {
    return [...bucketsOf(entry)].map((bucket) => [bucket, entry.org ?? 0, entry.id]);
  } catch {
    return [];
  }
}

/** Writes the rows by which entries are found by their patients, in the transaction that numbers the entries. */
export async function indexPatients(tx: Pick<Writing, 'run'>, entries: readonly IndexedEntry[]): Promise<void> {
  const rows = entries.flatMap(rowsOf);
  const inserts = insertStatements('INSERT INTO audit_patients (bucket, org, entry)', rows, ' ON CONFLICT DO NOTHING');
  await Promise.all(inserts.map((insert) => tx.run(insert)));
}

const REMOVE: Texts = {
  sql: 'DELETE FROM audit_patients WHERE bucket = ? AND org = ? AND entry = ?',
  text: 'DELETE FROM audit_patients WHERE bucket = $1 AND org = $2 AND entry = $3',
};

/** Deletes the rows of entries that are about to be deleted. */
export async function unindexPatients(tx: Pick<Writing, 'run'>, entries: readonly IndexedEntry[]): Promise<void> {
  for (const entry of entries) {
    for (const row of rowsOf(entry)) await tx.run(bound(REMOVE, row));
  }
}
