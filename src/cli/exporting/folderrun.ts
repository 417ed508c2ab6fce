import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { changesPath } from '../../core/exports/changesfile.ts';
import { checkResume } from '../../core/exports/exportfile.ts';
import { readState, removeState } from '../../core/exports/folderstate.ts';
import { targetOf } from '../../core/exports/partialfile.ts';
import { Failure } from '../../core/failure.ts';
import { jsonOf } from '../../core/jsontext.ts';
import { writeWholeFile } from '../../core/output/atomicfile.ts';
import { FORMATS } from '../../core/output/formats.ts';
import { failureOf } from '../errors/report.ts';
import { exportFolder, type FolderDone, type FolderExport } from './folderexport.ts';
import { failureOfFolder, reasonOf } from './folderfailure.ts';
import { type FolderRun, folderSummary, notTried } from './foldersummary.ts';
import { bookmarksOf, identityOf, incrementOf } from './resourceexport.ts';

/** The run, what `summary.json` says of it, and the failure that is to be thrown, if any. */
export interface EndedRun {
  readonly run: FolderRun;
  readonly summary: string;
  readonly failure: Failure | undefined;
}

/**
 * Exports into a folder and keeps `summary.json`: from the beginning, so that after a kill it does not tell of the run
 * before. Bookmarks move last: whoever reads of a complete run has all of it, and what a kill in between costs is
 * records that come a second time. Throws a Failure with exit code 2 before anything is done when a bookmark or an
 * unfinished run is of another export.
 */
export async function runFolder(order: FolderExport, facts: Pick<FolderRun, 'url' | 'organization' | 'sinceLast'>) {
  await refuseOthers(order);
  const { context } = order;
  const startedAt = context.clock.now();
  const wasReplaced = await hasReplacedFiles(order.folder);
  const ended = (done: FolderDone, failure: Failure | undefined): EndedRun => {
    const { outcomes } = done;
    const end = { exitCode: failure?.exitCode ?? 0, reason: reasonOf(outcomes, failure) };
    const run = { ...facts, startedAt, endedAt: context.clock.now(), outcomes, ...end };
    return { run, summary: textOf(run), failure };
  };
  const outcomes = order.files.map(notTried);
  const running = { ...facts, startedAt, endedAt: null, exitCode: null, reason: 'running', outcomes };
  await writeSummary(order, textOf(running));
  let done: FolderDone = { outcomes, bookmarks: [] };
  try {
    done = await exportFolder(order);
    if (wasReplaced && done.outcomes.some(({ kind }) => kind === 'changes'))
      order.note(wholeAgainText(facts.sinceLast));
    const failure = failureOfFolder(done.outcomes);
    const end = ended(done, failure);
    if (failure === undefined) {
      await writeSummary(order, end.summary);
      await moveBookmarks(order, done);
      return end;
    }
    // The failure is what has to be told, not that a full disk took no summary either.
    await writeSummary(order, end.summary).catch(() => undefined);
    return end;
  } catch (cause) {
    const end = ended(done, failureOf(cause));
    await writeSummary(order, end.summary).catch(() => undefined);
    return end;
  }
}

/** Whether the run before was of a version that replaced whole files by changes: its summary has no kinds of files. */
async function hasReplacedFiles(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, 'summary.json'), 'utf8').catch(() => '');
  const summary = jsonOf(text);
  const files = isPlainObject(summary) && Array.isArray(summary.files) ? summary.files : [];
  return files.some((file) => isPlainObject(file) && file.incremental === true && file.kind === undefined);
}

function wholeAgainText(name = ''): string {
  return `Earlier runs may have put changes in the place of the whole files. To make these anew: molar export bookmarks reset ${name}, then this line again.`;
}

async function moveBookmarks({ context, folder }: FolderExport, { bookmarks }: FolderDone): Promise<void> {
  const kept = bookmarksOf(context);
  for (const bookmark of bookmarks) await kept.move(bookmark);
  await removeState(folder);
}

function textOf(run: FolderRun): string {
  return `${JSON.stringify(folderSummary(run), null, 2)}\n`;
}

function writeSummary({ folder }: FolderExport, text: string): Promise<void> {
  return writeWholeFile(join(folder, 'summary.json'), text);
}

/** Refuses, before anything is sent, what every file would be refused for one by one. */
async function refuseOthers({ context, files, folder, resume }: FolderExport): Promise<void> {
  const state = resume ? await readState(folder) : undefined;
  for (const { reading, flags, path, file } of files) {
    try {
      const increment = await incrementOf(reading, context);
      const unfinished = resume && FORMATS[reading.plan.format].isResumable && state?.finished[file] === undefined;
      const target = increment?.since === undefined ? path : changesPath(path, state?.changesTime ?? '');
      if (unfinished) await checkResume(await targetOf(target), identityOf(reading, flags));
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.exitCode === EXIT.usage) throw cause;
      // Whatever else is wrong with one file is told in its outcome, and leaves the others alone.
    }
  }
}
