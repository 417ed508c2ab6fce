import { join } from 'node:path';
import { EXIT } from '../../catalog/failures.ts';
import { checkResume } from '../../core/exports/exportfile.ts';
import { readState, removeState } from '../../core/exports/folderstate.ts';
import { targetOf } from '../../core/exports/keptpart.ts';
import { Failure } from '../../core/failure.ts';
import { writeWholeFile } from '../../core/output/atomicfile.ts';
import { isResumable } from '../flags/exports.ts';
import { failureOf } from '../report.ts';
import { exportFolder, type FolderDone, type FolderExport } from './folderexport.ts';
import { failureOfFolder, reasonOf } from './folderfailure.ts';
import { type FolderRun, folderSummary } from './foldersummary.ts';
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
  const ended = (done: FolderDone, failure: Failure | undefined): EndedRun => {
    const { outcomes } = done;
    const end = { exitCode: failure?.exitCode ?? 0, reason: reasonOf(outcomes, failure) };
    const run = { ...facts, startedAt, endedAt: context.clock.now(), outcomes, ...end };
    return { run, summary: textOf(run), failure };
  };
  const outcomes = order.files.map((planned) => ({ planned, status: 'not tried' as const }));
  const running = { ...facts, startedAt, endedAt: null, exitCode: null, reason: 'running', outcomes };
  await writeSummary(order, textOf(running));
  let done: FolderDone = { outcomes, bookmarks: [] };
  try {
    done = await exportFolder(order);
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
  const finished = resume ? ((await readState(folder))?.finished ?? {}) : {};
  for (const { reading, flags, path, file } of files) {
    try {
      await incrementOf(reading, context);
      const unfinished = resume && isResumable(reading.plan.format) && finished[file] === undefined;
      if (unfinished) await checkResume(await targetOf(path), identityOf(reading, flags));
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.exitCode === EXIT.usage) throw cause;
      // Whatever else is wrong with one file is told in its outcome, and leaves the others alone.
    }
  }
}
