import { dirname, join } from 'node:path';
import type { Resource } from '../../catalog/define.ts';
import { EXIT } from '../../catalog/failures.ts';
import { countText } from '../../core/count.ts';
import type { Increment } from '../../core/exports/bookmark.ts';
import type { ExportKind } from '../../core/exports/changesfile.ts';
import type { InterruptedExport } from '../../core/exports/exporttask.ts';
import type { Receipt } from '../../core/exports/receipt.ts';
import { Failure, isInterruption } from '../../core/failure.ts';
import { durationText } from '../terminal/text.ts';
import type { PlannedFile } from './exportplan.ts';

/** How one file of a run of `molar export` ended. */
export interface FileOutcome {
  readonly planned: PlannedFile;
  /** Its name in the folder; null where there is no file, because nothing changed. */
  readonly file: string | null;
  /** Null where that is not known yet. */
  readonly kind: ExportKind | null;
  readonly status: 'complete' | 'failed' | 'not tried';
  readonly receipt?: Receipt | undefined;
  /** Completed by the interrupted run that this one resumes. */
  readonly earlier?: boolean;
  readonly failure?: Failure | undefined;
  /** How far a failed one got. */
  readonly interrupted?: InterruptedExport | undefined;
}

/** A file that was not begun. */
export function notTried(planned: PlannedFile): FileOutcome {
  const kind = planned.query.options.sinceLast === undefined ? 'whole' : null;
  return { planned, file: planned.file, kind, status: 'not tried' };
}

/** A run of `molar export`. */
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

/** `summary.json` of a run, for the job that watches it. */
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
    retries: sum(({ receipt, interrupted }) => (receipt ?? interrupted)?.retries),
    throttledSeconds: Math.round(sum((outcome) => throttledOf(outcome)) * 10) / 10,
  };
}

function throttledOf({ receipt, interrupted }: FileOutcome): number | undefined {
  return receipt?.throttledSeconds ?? (interrupted && Math.round(interrupted.throttledMilliseconds / 100) / 10);
}

function fileSummary(outcome: FileOutcome) {
  const { planned, status, receipt, earlier, failure, interrupted } = outcome;
  const { query, isIds } = planned;
  return {
    file: outcome.file,
    kind: outcome.kind,
    resource: query.resource.name,
    content: isIds ? 'ids' : 'records',
    status,
    incremental: query.options.sinceLast !== undefined,
    rows: receipt?.rows ?? null,
    pages: receipt?.pages ?? null,
    retries: (receipt ?? interrupted)?.retries ?? null,
    throttledSeconds: throttledOf(outcome) ?? null,
    durationSeconds: receipt === undefined ? null : secondsOf(receipt),
    filter: receipt?.filter ?? null,
    sha256: receipt?.sha256 ?? null,
    proof: receipt?.proof ?? null,
    ...(earlier === true && { finishedByEarlierRun: true }),
    ...(interrupted?.resumable === true && { resumable: { rows: interrupted.rows, pages: interrupted.pages } }),
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
  const none = changes.filter(({ file }) => file === null).map(({ planned }) => planned.query.resource.many);
  const parts = [
    ...(files.length > 0 ? [`only what changed since the last complete run is in ${files.join(', ')}`] : []),
    ...(none.length > 0 ? [`no changes of ${none.join(', ')}`] : []),
  ];
  const text = parts.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}. Complete files are unchanged.`;
}

/** The run in one line, for the mail of a cron job. */
export function folderLine(run: FolderRun, folder: string): string {
  const { files, rows, retries, throttledSeconds } = totalsOf(run.outcomes);
  const all = run.outcomes.filter(({ file }) => file !== null).length;
  const duration = durationText(((run.endedAt ?? run.startedAt) - run.startedAt) / 1000);
  const facts = [times(rows, 'row'), ...effortFacts(retries, throttledSeconds), duration];
  const share = files === all ? times(files, 'file') : `${countText(files)} of ${times(all, 'file')}`;
  return `Exported ${share} to ${folder}: ${facts.join(', ')}.`;
}

/** What an export took beside its pages. */
function effortFacts(retries: number, throttledSeconds: number): readonly string[] {
  return [
    ...(retries > 0 ? [times(retries, 'retry', 'retries')] : []),
    ...(throttledSeconds > 0 ? [`${durationText(throttledSeconds)} held back by the rate limit`] : []),
  ];
}

function secondsOf({ startedAt, endedAt }: Receipt): number {
  return (Date.parse(endedAt) - Date.parse(startedAt)) / 1000;
}

/**
 * The failure of a run whose files are not all complete (contract §4): 6 when some are, that of the cause when all
 * failed for the same one; undefined when nothing is missing.
 */
export function failureOfFolder(outcomes: readonly FileOutcome[]): Failure | undefined {
  const missing = outcomes.filter(({ status }) => status !== 'complete');
  const failures = missing.flatMap(({ failure }) => failure ?? []);
  const [first] = failures;
  const last = failures.at(-1);
  if (first === undefined || last === undefined) return undefined;
  if (outcomes.length === 1) return first;
  if (isInterruption(last)) return last;
  const oneCause = missing.length === outcomes.length && failures.every(({ exitCode }) => exitCode === first.exitCode);
  const items = missing.map(({ planned, file, failure }) => ({
    code: failure?.code ?? 'run.partial',
    source: file ?? planned.file,
    description: failure?.message ?? 'Not tried.',
  }));
  return new Failure(`${missing.length} of ${outcomes.length} files were not exported.`, {
    code: oneCause ? first.code : 'run.partial',
    exitCode: oneCause ? first.exitCode : EXIT.partial,
    requestId: first.requestId,
    items,
    hint: hintOf(first, oneCause),
  });
}

/** Why a run ended, for `summary.json`: `complete`, or a code; `run.overtime` also when some files are complete. */
export function reasonOf(outcomes: readonly FileOutcome[], failure: Failure | undefined): string {
  const overtime = outcomes.find((outcome) => outcome.failure?.code === 'run.overtime');
  return overtime?.failure?.code ?? failure?.code ?? 'complete';
}

function hintOf(first: Failure, oneCause: boolean): string {
  const again = 'Run it again with --resume to continue this run. No bookmark has moved.';
  const refused: readonly number[] = [EXIT.usage, EXIT.auth, EXIT.notFound, EXIT.refused];
  return oneCause && refused.includes(first.exitCode) && first.hint !== null ? first.hint : again;
}

/**
 * One line on a finished export: `Wrote 52,310 patients to patients.csv (105 pages, 2 retries, 14 s).` `path`: the
 * complete file, also where changes were written beside it.
 */
export function exportSummary(
  receipt: Receipt,
  { one, many }: Pick<Resource, 'one' | 'many'>,
  path: string,
  increment: Increment | undefined,
): string {
  const { rows, pages, retries, throttledSeconds, resumed } = receipt;
  const seconds = secondsOf(receipt);
  const facts = [
    times(pages, 'page'),
    ...effortFacts(retries, throttledSeconds),
    ...(resumed > 0 ? [`resumed ${times(resumed, 'time')}`] : []),
    seconds < 10 ? `${seconds.toFixed(1)} s` : durationText(seconds),
  ];
  const said = `(${facts.join(', ')}).${sinceText(increment)}`;
  if (receipt.kind === 'whole') return `Wrote ${times(rows, one, many)} to ${path} ${said}`;
  const left = `${path} is unchanged.`;
  if (rows === 0) return `No ${many} changed: no file was written ${said} ${left}`;
  return `Wrote ${times(rows, one, many)} that changed to ${join(dirname(path), receipt.file)} ${said} ${left}`;
}

/** What an increment holds, as a sentence after another one. */
export function sinceText(increment: Increment | undefined): string {
  if (increment === undefined) return '';
  return increment.since === undefined
    ? ' The first run of this bookmark: every record.'
    : ` Modified since ${increment.since}.`;
}

/** `1 page`, `2 pages`. */
export function times(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}
