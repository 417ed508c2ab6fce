import type { DeferredLines } from './deferredlines.ts';
import { ALL_TYPES, GLOBAL_KINDS, RECORD_KINDS, type RecordKind } from './kinds.ts';
import type { ImportLine, LineSource, ProblemList } from './lines.ts';
import { LocationUnknown } from './linevalues.ts';

/** The outcome of an import: records by type, and deleted ones. */
export interface ImportSummary {
  readonly imported: Readonly<Record<string, number>>;
  readonly deleted: number;
}

/** What is done with each line, by what it is about. A record's line may throw `LocationUnknown` until all have been read. */
export interface LineReaders {
  readonly problems: ProblemList;
  /** Counts what is no record of an organization. */
  readonly counts: Record<string, number>;
  deleted: number;
  last: boolean;
  record(kind: RecordKind, entry: ImportLine): Promise<void>;
  organization(entry: ImportLine): Promise<void>;
  credential(type: string, entry: ImportLine): Promise<void>;
}

/** Reads the lines in their order; those that depend on a location of a later line, after all others. */
export async function readAll(readers: LineReaders, source: LineSource, deferred: DeferredLines): Promise<void> {
  for await (const entries of source) {
    for (const entry of entries) {
      try {
        // The last line of a record wins, so it must not overtake an earlier one.
        if (deferred.includes(entry)) await deferred.add(entry);
        else await readLine(readers, entry);
      } catch (error) {
        // A later line may define the location: this one is read again after the last.
        if (!(error instanceof LocationUnknown)) throw error;
        await deferred.add(entry);
      }
    }
  }
  readers.last = true;
  for await (const entry of deferred.drain()) await readLine(readers, entry);
}

const NOTHING = Promise.resolve();

function readLine(readers: LineReaders, entry: ImportLine): Promise<void> {
  const { type, deleted } = entry.record;
  if (deleted != null && typeof deleted !== 'boolean') {
    readers.problems.add(entry.line, 'deleted', 'deleted must be true or false.');
    return NOTHING;
  }
  const kind = typeof type === 'string' ? RECORD_KINDS.get(type) : undefined;
  return kind === undefined ? readOther(readers, entry) : readers.record(kind, entry);
}

/** A line that does not belong to an organization. */
async function readOther(readers: LineReaders, entry: ImportLine): Promise<void> {
  const { type } = entry.record;
  if (type === 'Organization') {
    await readers.organization(entry);
  } else if (typeof type === 'string' && Object.hasOwn(GLOBAL_KINDS, type)) {
    await readers.credential(type, entry);
  } else {
    const what = typeof type === 'string' ? `${type} is not a type` : 'The line has no type';
    readers.problems.add(entry.line, 'type', `${what}. Types: ${ALL_TYPES.join(', ')}.`);
    return;
  }
  if (entry.record.deleted === true) readers.deleted++;
  else readers.counts[type] = (readers.counts[type] ?? 0) + 1;
}
