import { resolve } from 'node:path';
import { holdLock, type LockOwner, type Release } from '../../lockfile.ts';
import { MAX_CONTENT } from '../content/limits.ts';
import { type SpooledSource, spool } from '../content/spool.ts';
import { type PlannedUpload, planUploads } from './plan.ts';
import { readEarlierResults, withEarlier } from './resultsfile.ts';
import { type RunFiles, runFiles } from './runfiles.ts';
import { readUploadInput, type UploadInput } from './uploadinput.ts';
import { planNotes } from './uploadreport.ts';
import type { UploadRow } from './uploadrow.ts';

/** A run of uploads as the command line describes it. */
export interface UploadOrder extends Omit<UploadInput, 'isOwn'> {
  /** Path of the results CSV, as given. */
  readonly results: string;
  readonly organization: string;
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Told the bytes that are kept of stdin. */
  readonly onSpooled?: (bytes: number) => void;
  readonly temporaryFolder: string;
  /** Who keeps other runs from the same results file; absent where nothing will be sent. */
  readonly owner?: LockOwner;
  readonly signal?: AbortSignal;
}

/** A run that was checked; nothing was sent or written but the lock. */
export interface PreparedUploads {
  readonly plan: readonly PlannedUpload[];
  /** For the person who runs it: what was left out, what was assumed. */
  readonly notes: readonly string[];
  readonly single: boolean;
  readonly results: string;
  readonly files: RunFiles;
  readonly earlier: readonly UploadRow[];
  /** Gives the lock and the disk space of stdin back. */
  readonly dispose: () => Promise<void>;
}

/**
 * Reads and checks everything that is asked for. Throws a Failure only for what spoils the run as a whole: exit 2, or 9,
 * also when another run with the same results file goes on.
 */
export async function prepareUploads(order: UploadOrder): Promise<PreparedUploads> {
  const files = runFiles(resolve(order.folder, order.results));
  const held: Release[] = [];
  const dispose = async () => {
    for (const release of held.splice(0)) await release();
  };
  try {
    if (order.owner !== undefined) held.push(await holdLock(files.lock, order.results, order.owner));
    return { ...(await prepare(order, files, held)), dispose };
  } catch (cause) {
    await dispose();
    throw cause;
  }
}

async function prepare(
  order: UploadOrder,
  files: RunFiles,
  held: Release[],
): Promise<Omit<PreparedUploads, 'dispose'>> {
  const { results, folder, organization, signal } = order;
  const input = await readUploadInput({ ...order, isOwn: files.isOwn });
  const earlier = await readEarlierResults(files.results, results);
  const isOther = order.manifest !== undefined && resolve(folder, order.manifest) !== files.results;
  const rows = withEarlier(isOther ? input.rows.map(fromElsewhere) : input.rows, earlier);
  const stdin = async () => {
    const { temporaryFolder, onSpooled: onBytes } = order;
    const options = { label: '-', folder: temporaryFolder, limit: MAX_CONTENT, onBytes };
    const spooled: SpooledSource = await spool(order.stdin, options);
    held.push(spooled.dispose);
    return spooled;
  };
  const plan = await planUploads(rows, { organization, folder, stdin, ...(signal && { signal }) });
  return { plan, notes: [...input.notes, ...planNotes(plan)], single: input.single, results, files, earlier };
}

function fromElsewhere(row: UploadRow): UploadRow {
  return row.earlier === undefined ? row : { ...row, earlier: { ...row.earlier, elsewhere: true } };
}
