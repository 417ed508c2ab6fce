import { basename, join } from 'node:path';
import type { Bookmark } from '../../core/exports/bookmark.ts';
import { changesTime } from '../../core/exports/changesfile.ts';
import type { Left } from '../../core/exports/exporttask.ts';
import { type FinishedFile, type FolderState, readState, writeState } from '../../core/exports/folderstate.ts';
import type { Receipt } from '../../core/exports/receipt.ts';
import { type Failure, isInterruption } from '../../core/failure.ts';
import { exists } from '../../core/output/replacement.ts';
import type { ApiClient } from '../../core/transport/client.ts';
import type { Context } from '../context.ts';
import { failureOf } from '../errors/report.ts';
import { isResumable } from '../flags/exports.ts';
import { RowProgress } from '../terminal/progress.ts';
import { counted } from '../terminal/text.ts';
import type { PlannedFile } from './exportplan.ts';
import { type FileOutcome, notTried } from './foldersummary.ts';
import { exportToFile, filterOf, identityOf, incrementOf, unprovedText } from './resourceexport.ts';

export interface FolderExport {
  readonly context: Context;
  readonly folder: string;
  readonly files: readonly PlannedFile[];
  readonly resume: boolean;
  readonly quiet: boolean;
  readonly connect: () => Promise<ApiClient>;
  /** Aborted when the run is interrupted or has lasted too long. */
  readonly signal: AbortSignal;
  /** A line for who watches; a job is told by the line at the end. */
  readonly remark: (text: string) => void;
  /** A line for everybody. */
  readonly note: (text: string) => void;
}

/** What came of a run: an outcome a file, and where the bookmarks are to stand once all of them are complete. */
export interface FolderDone {
  readonly outcomes: readonly FileOutcome[];
  readonly bookmarks: readonly Bookmark[];
}

/**
 * Exports file after file. One that fails leaves the others alone, unless nothing can be had any more. Until all are
 * there, another run brings everything again, and an unfinished one can be resumed. What went wrong with a file is in
 * its outcome; throws a Failure with exit code 9 when the state of the run cannot be kept.
 */
export async function exportFolder(order: FolderExport): Promise<FolderDone> {
  const { folder, files } = order;
  const earlier = order.resume ? await readState(folder) : undefined;
  const state = earlier ?? (await newState(order));
  const finished: Record<string, FinishedFile> = { ...state.finished };
  // From the start, so that a run that resumes this one finds its files of changes by their names.
  if (earlier === undefined) await writeState(folder, state);
  const outcomes: FileOutcome[] = [];
  let stopped = false;
  for (const planned of files) {
    if (stopped) {
      outcomes.push(notTried(planned));
      continue;
    }
    const one = await exportOne(order, planned, finished[planned.file], state.changesTime);
    outcomes.push(one.outcome);
    if (one.finished !== undefined) {
      finished[planned.file] = one.finished;
      await writeState(folder, { ...state, finished });
    }
    stopped = one.outcome.failure !== undefined && endsAll(one.outcome.failure);
  }
  const bookmarks = files.flatMap(({ file }) => finished[file]?.bookmark ?? []);
  return { outcomes, bookmarks };
}

async function newState({ context, files }: FolderExport): Promise<FolderState> {
  const now = context.clock.now();
  const changes = files.filter(({ reading }) => reading.wishes.sinceLast !== undefined).map(({ path }) => path);
  return {
    version: 1,
    startedAt: new Date(now).toISOString(),
    changesTime: await changesTime(changes, now),
    finished: {},
  };
}

async function exportOne(
  order: FolderExport,
  planned: PlannedFile,
  before: FinishedFile | undefined,
  time: string,
): Promise<{ readonly outcome: FileOutcome; readonly finished?: FinishedFile }> {
  const { context, connect, signal } = order;
  const { reading, path, flags } = planned;
  const many = planned.isIds ? `ids of ${reading.resource.many}` : reading.resource.many;
  const progress = new RowProgress(context, order.quiet, many);
  let target: Pick<FileOutcome, 'file' | 'kind'> = notTried(planned);
  let left: Left | undefined;
  try {
    if (before !== undefined && (await stillStands(before, planned, order))) {
      const { receipt } = before;
      order.remark(`${receipt.file} is complete from the run that is resumed.`);
      return { outcome: { ...completed(planned, receipt), earlier: true } };
    }
    const wishes = { ...reading.wishes, resume: order.resume && isResumable(reading.plan.format) };
    const { receipt, increment, readFrom } = await exportToFile(
      { ...reading, wishes },
      {
        ...{ context, flags, path, connect, progress, signal },
        changesTime: async () => time,
        onTarget: (written) => {
          target = { file: basename(written.path), kind: written.kind };
        },
        onResume: (rows) => order.remark(`${target.file} goes on after ${counted(rows)} ${many}.`),
        onRestart: (reason) => order.note(`${target.file} starts over: ${reason}.`),
        onLeft: (facts) => {
          left = facts;
        },
      },
    );
    const unproved = unprovedText(receipt.proof, reading.resource);
    if (unproved !== undefined) order.note(`${target.file}: ${unproved}`);
    const finished = { task: taskOf(planned), receipt, bookmark: increment?.bookmarkAt(readFrom) ?? null };
    return { outcome: completed(planned, receipt), finished };
  } catch (cause) {
    return { outcome: { planned, ...target, status: 'failed', failure: failureOf(cause), left } };
  } finally {
    progress.stop();
  }
}

/** Of no changes there is no file. */
function completed(planned: PlannedFile, receipt: Receipt): FileOutcome {
  const { kind, rows, file } = receipt;
  return { planned, file: kind === 'changes' && rows === 0 ? null : file, kind, status: 'complete', receipt };
}

/** What goes into a file, in a form that only has to be compared. */
function taskOf({ reading, flags }: PlannedFile): string {
  return JSON.stringify(identityOf(reading, flags));
}

/**
 * Whether a file that an unfinished run finished is what this run would bring: the same export, from the same bookmark,
 * or from the one that the unfinished run had begun to move.
 */
async function stillStands(before: FinishedFile, planned: PlannedFile, order: FolderExport): Promise<boolean> {
  const { context, folder } = order;
  const { kind, rows, file } = before.receipt;
  const hasFile = kind !== 'changes' || rows > 0;
  if (before.task !== taskOf(planned) || (hasFile && !(await exists(join(folder, file))))) return false;
  const increment = await incrementOf(planned.reading, context);
  const filter = filterOf(planned.reading, increment) ?? null;
  return filter === before.receipt.filter || (increment !== undefined && increment.since === before.bookmark?.since);
}

/** Whether the next file would fail for the same reason: the token, the connection, the disk, or no time left. */
function endsAll(failure: Failure): boolean {
  if (isInterruption(failure) || failure.code === 'run.overtime') return true;
  return failure.status === 401 || failure.code.startsWith('network.') || failure.code === 'local.file';
}
