import { basename, dirname, extname, resolve } from 'node:path';
import { holdLock, type LockOwner, type Release } from '../../lockfile.ts';
import { guarded } from '../../output/atomicfile.ts';
import { replaceable } from '../../output/ownfile.ts';
import { MAX_CONTENT } from '../content/source.ts';
import { spool } from '../content/spool.ts';
import { findOwners, type PatientSource } from '../layouts/patientfind.ts';
import { type PlannedUpload, planUploads } from './plan.ts';
import { readEarlierResults, withEarlier } from './resultsfile.ts';
import { writeReview } from './reviewfile.ts';
import { readUploadInput, type UploadInput } from './uploadinput.ts';
import { planNotes } from './uploadreport.ts';
import type { UploadRow } from './uploadrow.ts';

/** A run of uploads as the command line describes it. */
export interface UploadOrder extends Omit<UploadInput, 'isOwn'> {
  /** Path of the results CSV, as given. */
  readonly results: string;
  readonly organization: string;
  /** Path of the review file, as given; present where files may be for review. */
  readonly review?: string;
  /** Where patients are looked up by what paths say. */
  readonly patients: () => Promise<PatientSource>;
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Called with the number of bytes of stdin that are spooled. */
  readonly onSpooled?: (bytes: number) => void;
  readonly temporaryFolder: string;
  /** Holder of the lock on the results file; absent where nothing will be sent. */
  readonly owner?: LockOwner;
  readonly signal?: AbortSignal;
}

/** A run that was checked; nothing was sent, and nothing written but the review file and the lock. */
export interface PreparedUploads {
  readonly plan: readonly PlannedUpload[];
  /** For the person who runs it: what was left out, what was assumed. */
  readonly notes: readonly string[];
  /** Exactly one file was named. */
  readonly single: boolean;
  readonly results: string;
  /** Path of the review file, as given; present where files are in it. */
  readonly review?: string;
  readonly files: RunFiles;
  readonly earlier: readonly UploadRow[];
  /** Releases the lock and the disk space of stdin. */
  readonly dispose: () => Promise<void>;
}

/** Reads and checks all that was requested. Throws a Failure only for what prevents the complete run: exit 2 or 9. */
export async function prepareUploads(order: UploadOrder): Promise<PreparedUploads> {
  const { results, review, folder, organization, owner, signal } = order;
  const files = runFiles(resolve(folder, results));
  const ownReview = review === undefined ? () => false : runFiles(resolve(folder, review)).isOwn;
  const isOwn = (path: string) => files.isOwn(path) || ownReview(path);
  const held: Release[] = [];
  const dispose = async () => {
    for (const release of held.splice(0)) await release();
  };
  const stdin = async () => {
    const { temporaryFolder, onSpooled: onBytes } = order;
    const spooled = await spool(order.stdin, { label: '-', folder: temporaryFolder, limit: MAX_CONTENT, onBytes });
    held.push(spooled.dispose);
    return spooled;
  };
  try {
    if (owner !== undefined) {
      await guarded(`write ${results}`, () => replaceable(files.results));
      held.push(await holdLock(files.lock, results, owner));
    }
    const { rows: requested, notes, single } = await readUploadInput({ ...order, isOwn });
    const rows = await findOwners(requested, order.patients);
    const earlier = await readEarlierResults(files.results, results);
    const isOther = order.manifest !== undefined && resolve(folder, order.manifest) !== files.results;
    const known = withEarlier(isOther ? rows.map(fromElsewhere) : rows, earlier);
    const plan = await planUploads(known, { organization, folder, stdin, ...(signal && { signal }) });
    const kept = review === undefined ? undefined : await writeReview(resolve(folder, review), review, rows);
    const keptNotes = kept === undefined ? [] : [`${review} had patients filled in; it is ${basename(kept)} now.`];
    const hasReview = review !== undefined && rows.some((row) => row.review !== undefined);
    const allNotes = [...notes, ...keptNotes, ...planNotes(plan)];
    return { plan, notes: allNotes, single, results, ...(hasReview && { review }), files, earlier, dispose };
  } catch (cause) {
    await dispose();
    throw cause;
  }
}

function fromElsewhere(row: UploadRow): UploadRow {
  return row.earlier === undefined ? row : { ...row, earlier: { ...row.earlier, elsewhere: true } };
}

/** The files that a run of uploads writes: the results CSV, and beside it the journal and the lock. Absolute paths. */
export interface RunFiles {
  readonly results: string;
  readonly journal: string;
  readonly lock: string;
  /** Whether a file, by its absolute path, is one of them or an earlier one: those are never uploaded with a folder. */
  readonly isOwn: (path: string) => boolean;
}

/** The files of the run whose results CSV is at this path. */
export function runFiles(results: string): RunFiles {
  const extension = extname(results);
  const stem = basename(results, extension);
  return {
    results,
    journal: `${results}.journal`,
    lock: `${results}.lock`,
    isOwn: (path) => dirname(path) === dirname(results) && isOwnName(basename(path), stem, extension),
  };
}

/** `results.csv`, one moved aside (`results.1.csv`), and what is written beside it, complete or in part. */
function isOwnName(name: string, stem: string, extension: string): boolean {
  if (!name.startsWith(stem)) return false;
  const rest = name.slice(stem.length).replace(/\.(?:part|journal|journal\.part|lock(?:\.[-\w.]+)?)$/, '');
  return rest.endsWith(extension) && /^(?:\.\d+)?$/.test(rest.slice(0, rest.length - extension.length));
}
