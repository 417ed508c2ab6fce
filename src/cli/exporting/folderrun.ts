import { basename, join } from 'node:path';
import { EXIT } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { countText } from '../../core/count.ts';
import type { Bookmark } from '../../core/exports/bookmark.ts';
import { changesPath, changesTime } from '../../core/exports/changesfile.ts';
import { checkResume, targetOf } from '../../core/exports/exportfile.ts';
import type { InterruptedExport } from '../../core/exports/exporttask.ts';
import {
  type FinishedFile,
  type FolderState,
  readState,
  removeState,
  writeState,
} from '../../core/exports/folderstate.ts';
import type { Receipt } from '../../core/exports/receipt.ts';
import { Failure, isInterruption } from '../../core/failure.ts';
import { jsonOf } from '../../core/jsontext.ts';
import { exists, readIfPresent, writeAtomicFile } from '../../core/output/atomicfile.ts';
import type { ApiClient } from '../../core/transport/client.ts';
import type { Context } from '../context.ts';
import { failureOf } from '../errors/report.ts';
import { RowProgress } from '../terminal/progress.ts';
import type { PlannedFile } from './exportplan.ts';
import { bookmarksOf, exportToFile, filterOf, identityOf, incrementOf, unprovedText } from './resourceexport.ts';
import { type FileOutcome, type FolderRun, failureOfFolder, folderSummary, notTried, reasonOf } from './summary.ts';

/** A run into a folder. */
export interface FolderExport {
  readonly context: Context;
  readonly folder: string;
  readonly files: readonly PlannedFile[];
  readonly resume: boolean;
  readonly quiet: boolean;
  readonly connect: () => Promise<ApiClient>;
  /** Aborted when the run is interrupted or has lasted too long. */
  readonly signal: AbortSignal;
  /** Prints a line for a person at the terminal; a job gets one line at the end. */
  readonly remark: (text: string) => void;
  /** Prints a line for everybody. */
  readonly note: (text: string) => void;
}

/** The run, its `summary.json`, and the failure to throw, if any. */
export interface EndedRun {
  readonly run: FolderRun;
  readonly summary: string;
  readonly failure: Failure | undefined;
}

/** The outcome of every file, and where the bookmarks are to be once all of them are complete. */
interface FolderDone {
  readonly outcomes: readonly FileOutcome[];
  readonly bookmarks: readonly Bookmark[];
}

/**
 * Exports into a folder and writes `summary.json`: at the start too, so that after a kill it does not describe the run
 * before. Bookmarks move last: a run that is reported as complete has all records, and a kill in between costs records
 * that are exported twice. Throws a Failure with exit code 2 before anything is done when a bookmark or an interrupted
 * run is of another export.
 */
export async function runFolder(
  order: FolderExport,
  facts: Pick<FolderRun, 'url' | 'organization' | 'sinceLast'>,
): Promise<EndedRun> {
  await refuseOthers(order);
  const { context, folder, files } = order;
  const startedAt = context.clock.now();
  const wasReplaced = await hasReplacedFiles(folder);
  const write = (text: string) => writeAtomicFile(join(folder, 'summary.json'), text);
  const ended = ({ outcomes }: FolderDone, failure: Failure | undefined): EndedRun => {
    const end = { exitCode: failure?.exitCode ?? 0, reason: reasonOf(outcomes, failure) };
    const run = { ...facts, startedAt, endedAt: context.clock.now(), outcomes, ...end };
    return { run, summary: textOf(run), failure };
  };
  let done: FolderDone = { outcomes: files.map(notTried), bookmarks: [] };
  await write(textOf({ ...facts, startedAt, endedAt: null, exitCode: null, reason: 'running', ...done }));
  try {
    done = await exportFolder(order);
    if (wasReplaced && done.outcomes.some(({ kind }) => kind === 'changes')) order.note(exportAgain(facts.sinceLast));
    const end = ended(done, failureOfFolder(done.outcomes));
    // The failure is reported, not that a full disk took no summary either.
    if (end.failure !== undefined) await write(end.summary).catch(() => undefined);
    if (end.failure !== undefined) return end;
    await write(end.summary);
    for (const bookmark of done.bookmarks) await bookmarksOf(context).move(bookmark);
    await removeState(folder);
    return end;
  } catch (cause) {
    const end = ended(done, failureOf(cause));
    await write(end.summary).catch(() => undefined);
    return end;
  }
}

/** Whether the run before was of a version that replaced complete files by changes: its summary has no kinds of files. */
async function hasReplacedFiles(folder: string): Promise<boolean> {
  const summary = jsonOf((await readIfPresent(join(folder, 'summary.json')).catch(() => '')) ?? '');
  const files = isPlainObject(summary) && Array.isArray(summary.files) ? summary.files : [];
  return files.some((file) => isPlainObject(file) && file.incremental === true && file.kind === undefined);
}

function exportAgain(name = ''): string {
  return `Earlier runs may have replaced complete files by changes. To export them again: molar export bookmarks reset ${name}, then this command again.`;
}

function textOf(run: FolderRun): string {
  return `${JSON.stringify(folderSummary(run), null, 2)}\n`;
}

/** Refuses, before anything is sent, what every file would be refused for one by one. */
async function refuseOthers({ context, files, folder, resume }: FolderExport): Promise<void> {
  const state = resume ? await readState(folder) : undefined;
  for (const { query, flags, path, file } of files) {
    try {
      const increment = await incrementOf(query, context);
      const isUnfinished = resume && state?.finished[file] === undefined;
      const target = increment?.since === undefined ? path : changesPath(path, state?.changesTime ?? '');
      if (isUnfinished) await checkResume(await targetOf(target), identityOf(query, flags));
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.exitCode === EXIT.usage) throw cause;
      // Any other problem of one file is part of its outcome, and leaves the others alone.
    }
  }
}

/**
 * Exports file after file. One that fails leaves the others alone, unless they would fail, too. Until all are complete,
 * another run exports everything again, and an interrupted one can be resumed. The failure of a file is part of its
 * outcome; throws a Failure with exit code 9 when the state of the run cannot be saved.
 */
async function exportFolder(order: FolderExport): Promise<FolderDone> {
  const { folder, files } = order;
  const earlier = order.resume ? await readState(folder) : undefined;
  const state = earlier ?? (await newState(order));
  const finished: Record<string, FinishedFile> = { ...state.finished };
  // From the start, so that a run that resumes this one finds its files of changes by their names.
  if (earlier === undefined) await writeState(folder, state);
  const outcomes: FileOutcome[] = [];
  let hasEnded = false;
  for (const planned of files) {
    if (hasEnded) {
      outcomes.push(notTried(planned));
      continue;
    }
    const one = await exportOne(order, planned, finished[planned.file], state.changesTime);
    outcomes.push(one.outcome);
    if (one.finished !== undefined) {
      finished[planned.file] = one.finished;
      await writeState(folder, { ...state, finished });
    }
    hasEnded = one.outcome.failure !== undefined && endsAll(one.outcome.failure);
  }
  return { outcomes, bookmarks: files.flatMap(({ file }) => finished[file]?.bookmark ?? []) };
}

async function newState({ context, files }: FolderExport): Promise<FolderState> {
  const now = context.clock.now();
  const changes = files.filter(({ query }) => query.options.sinceLast !== undefined).map(({ path }) => path);
  const startedAt = new Date(now).toISOString();
  return { version: 1, startedAt, changesTime: await changesTime(changes, now), finished: {} };
}

async function exportOne(
  order: FolderExport,
  planned: PlannedFile,
  before: FinishedFile | undefined,
  time: string,
): Promise<{ readonly outcome: FileOutcome; readonly finished?: FinishedFile }> {
  const { context, connect, signal } = order;
  const { query, path, flags } = planned;
  const many = planned.isIds ? `ids of ${query.resource.many}` : query.resource.many;
  const progress = new RowProgress(context, order.quiet, many);
  let target: Pick<FileOutcome, 'file' | 'kind'> = notTried(planned);
  let interrupted: InterruptedExport | undefined;
  try {
    if (before !== undefined && (await isStillValid(before, planned, order))) {
      const { receipt } = before;
      order.remark(`${receipt.file} is complete from the run that is resumed.`);
      return { outcome: { ...completed(planned, receipt), earlier: true } };
    }
    const { receipt, increment, readFrom } = await exportToFile(query, {
      ...{ context, flags, path, connect, progress, signal },
      changesTime: async () => time,
      onTarget: (written) => {
        target = { file: basename(written.path), kind: written.kind };
      },
      onResume: (rows) => order.remark(`${target.file} continues after ${countText(rows)} ${many}.`),
      onRestart: (reason) => order.note(`${target.file} starts over: ${reason}.`),
      onInterrupted: (facts) => {
        interrupted = facts;
      },
    });
    const unproved = unprovedText(receipt.proof, query.resource);
    if (unproved !== undefined) order.note(`${target.file}: ${unproved}`);
    const finished = { task: taskOf(planned), receipt, bookmark: increment?.bookmarkAt(readFrom) ?? null };
    return { outcome: completed(planned, receipt), finished };
  } catch (cause) {
    return { outcome: { planned, ...target, status: 'failed', failure: failureOf(cause), interrupted } };
  } finally {
    await progress.stop();
  }
}

/** No changes, no file. */
function completed(planned: PlannedFile, receipt: Receipt): FileOutcome {
  const { kind, rows, file } = receipt;
  return { planned, file: kind === 'changes' && rows === 0 ? null : file, kind, status: 'complete', receipt };
}

/** What goes into a file, as text to compare. */
function taskOf({ query, flags }: PlannedFile): string {
  return JSON.stringify(identityOf(query, flags));
}

/**
 * Whether a file that an interrupted run completed is what this run would write: the same export, from the same
 * bookmark, or from the one that the interrupted run had begun to move.
 */
async function isStillValid(
  before: FinishedFile,
  planned: PlannedFile,
  { context, folder }: FolderExport,
): Promise<boolean> {
  const { kind, rows, file } = before.receipt;
  const hasFile = kind !== 'changes' || rows > 0;
  if (before.task !== taskOf(planned) || (hasFile && !(await exists(join(folder, file))))) return false;
  const increment = await incrementOf(planned.query, context);
  const filter = filterOf(planned.query, increment) ?? null;
  return filter === before.receipt.filter || (increment !== undefined && increment.since === before.bookmark?.since);
}

/** Whether the next file would fail for the same reason: the token, the connection, the disk, or no time left. */
function endsAll(failure: Failure): boolean {
  if (isInterruption(failure) || failure.code === 'run.overtime') return true;
  return failure.status === 401 || failure.code.startsWith('network.') || failure.code === 'local.file';
}
