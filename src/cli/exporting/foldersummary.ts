import type { ExportKind } from '../../core/exports/changesfile.ts';
import type { Left } from '../../core/exports/exporttask.ts';
import type { Receipt } from '../../core/exports/receipt.ts';
import type { Failure } from '../../core/failure.ts';
import { counted, durationText } from '../terminal/text.ts';
import type { PlannedFile } from './exportplan.ts';
import { times } from './summary.ts';

/** How one file of a run of `molar export` ended. */
export interface FileOutcome {
  readonly planned: PlannedFile;
  /** Its name in the folder; null where there is no file, because nothing changed. */
  readonly file: string | null;
  /** Null where that is not known yet. */
  readonly kind: ExportKind | null;
  readonly status: 'complete' | 'failed' | 'not tried';
  readonly receipt?: Receipt | undefined;
  /** By the unfinished run that this one goes on with. */
  readonly earlier?: boolean;
  readonly failure?: Failure | undefined;
  /** How far a failed one came. */
  readonly left?: Left | undefined;
}

/** A file that nothing is known of yet. */
export function notTried(planned: PlannedFile): FileOutcome {
  const kind = planned.reading.wishes.sinceLast === undefined ? 'whole' : null;
  return { planned, file: planned.file, kind, status: 'not tried' };
}

export interface FolderRun {
  readonly url: string;
  readonly organization: string;
  /** UTC milliseconds; no end and no exit code while it runs. */
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly exitCode: number | null;
  /** `running`, `complete`, or the code of the failure that ended it. */
  readonly reason: string;
  readonly sinceLast: string | undefined;
  readonly outcomes: readonly FileOutcome[];
}

/** `summary.json` of a run: what a job that watches it wants to know. */
export function folderSummary(run: FolderRun): Readonly<Record<string, unknown>> {
  const { url, organization, startedAt, endedAt, exitCode, reason, sinceLast, outcomes } = run;
  return {
    complete: exitCode === 0,
    exitCode,
    reason,
    ...{ url, organization, sinceLast: sinceLast ?? null },
    startedAt: new Date(startedAt).toISOString(),
    endedAt: endedAt === null ? null : new Date(endedAt).toISOString(),
    durationSeconds: endedAt === null ? null : (endedAt - startedAt) / 1000,
    totals: totalsOf(outcomes),
    files: outcomes.map(fileSummary),
  };
}

/** Rows and pages of the files that are there; retries and waiting of all. */
function totalsOf(outcomes: readonly FileOutcome[]) {
  const sum = (of: (outcome: FileOutcome) => number | undefined) =>
    outcomes.reduce((total, outcome) => total + (of(outcome) ?? 0), 0);
  return {
    files: outcomes.filter(({ status, file }) => status === 'complete' && file !== null).length,
    rows: sum(({ receipt }) => receipt?.rows),
    pages: sum(({ receipt }) => receipt?.pages),
    retries: sum(({ receipt, left }) => (receipt ?? left)?.retries),
    throttledSeconds: Math.round(sum((outcome) => throttledOf(outcome)) * 10) / 10,
  };
}

function throttledOf({ receipt, left }: FileOutcome): number | undefined {
  return receipt?.throttledSeconds ?? (left && Math.round(left.throttledMilliseconds / 100) / 10);
}

function fileSummary(outcome: FileOutcome) {
  const { planned, status, receipt, earlier, failure, left } = outcome;
  const { reading, isIds } = planned;
  return {
    file: outcome.file,
    kind: outcome.kind,
    resource: reading.resource.name,
    content: isIds ? 'ids' : 'records',
    status,
    incremental: reading.wishes.sinceLast !== undefined,
    rows: receipt?.rows ?? null,
    pages: receipt?.pages ?? null,
    retries: (receipt ?? left)?.retries ?? null,
    throttledSeconds: throttledOf(outcome) ?? null,
    durationSeconds: receipt === undefined ? null : secondsOf(receipt),
    filter: receipt?.filter ?? null,
    sha256: receipt?.sha256 ?? null,
    proof: receipt?.proof ?? null,
    ...(earlier === true && { finishedByEarlierRun: true }),
    ...(left?.kept === true && { resumable: { rows: left.rows, pages: left.pages } }),
    error:
      failure === undefined
        ? null
        : { code: failure.code, message: failure.message, exitCode: failure.exitCode, requestId: failure.requestId },
  };
}

/** What the files of changes of a run are; undefined where it has none. */
export function changesLine({ outcomes }: FolderRun): string | undefined {
  const changes = outcomes.filter(({ kind, status }) => kind === 'changes' && status === 'complete');
  if (changes.length === 0) return undefined;
  const files = changes.flatMap(({ file, receipt }) =>
    file === null ? [] : `${file} (${times(receipt?.rows ?? 0, 'row')})`,
  );
  const none = changes.filter(({ file }) => file === null).map(({ planned }) => planned.reading.resource.many);
  const parts = [
    ...(files.length > 0 ? [`only what changed since the last complete run is in ${files.join(', ')}`] : []),
    ...(none.length > 0 ? [`no changes of ${none.join(', ')}`] : []),
  ];
  const text = parts.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}. Whole files are as they were.`;
}

/** The run in one line, for the mail of a cron job. */
export function folderLine(run: FolderRun, folder: string): string {
  const { files, rows, retries, throttledSeconds } = totalsOf(run.outcomes);
  const all = run.outcomes.filter(({ file }) => file !== null).length;
  const facts = [
    times(rows, 'row'),
    ...(retries > 0 ? [times(retries, 'retry', 'retries')] : []),
    ...(throttledSeconds > 0 ? [`${durationText(throttledSeconds)} held back by the rate limit`] : []),
    durationText(((run.endedAt ?? run.startedAt) - run.startedAt) / 1000),
  ];
  const share = files === all ? times(files, 'file') : `${counted(files)} of ${times(all, 'file')}`;
  return `Exported ${share} to ${folder}: ${facts.join(', ')}.`;
}

function secondsOf({ startedAt, endedAt }: Receipt): number {
  return (Date.parse(endedAt) - Date.parse(startedAt)) / 1000;
}
