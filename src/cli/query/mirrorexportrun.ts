import { basename, join } from 'node:path';
import { EXIT } from '../../catalog/failures.ts';
import { runExport } from '../../core/exports/exportrun.ts';
import { type Failure, isInterruption, localFailure, reworded } from '../../core/failure.ts';
import { writeAtomicFile } from '../../core/output/atomicfile.ts';
import { FORMATS } from '../../core/output/formats.ts';
import type { RowPage } from '../../core/pages/page.ts';
import { QueryFault } from '../../core/query/fault.ts';
import type { MirrorSource } from '../../core/query/mirrorsource.ts';
import { incomplete } from '../../core/query/mirrortables.ts';
import type { Context } from '../context.ts';
import { failureOf } from '../errors/report.ts';
import { columnsHash, identityOf } from '../exporting/resourceexport.ts';
import {
  type FileOutcome,
  type FolderRun,
  failureOfFolder,
  folderSummary,
  notTried,
  reasonOf,
} from '../exporting/summary.ts';
import { lockOwner } from '../process/lockowner.ts';
import { periodicCollector, RAW_RECORDS } from '../process/memory.ts';
import { formatterOf, packing, scanFormatOf, shaping } from '../rows/output.ts';
import { RowProgress } from '../terminal/progress.ts';
import type { MirrorFile } from './mirrorexportplan.ts';
import { queryFailure } from './queryfailure.ts';

/** An export of a mirror into a folder. */
export interface MirrorExport {
  readonly context: Context;
  readonly folder: string;
  readonly source: MirrorSource;
  readonly files: readonly MirrorFile[];
  readonly quiet: boolean;
}

/**
 * Writes a file for each resource whose load is complete, and `summary.json` (D52): at the start too, so that after a
 * kill it does not describe the run before. Returns the run, its summary, and the failure to throw, if any.
 */
export async function runMirrorExport(order: MirrorExport) {
  const { context, folder, files } = order;
  const startedAt = context.clock.now();
  const facts = {
    url: files[0]?.table.url ?? '',
    organization: files[0]?.table.organization ?? '',
    sinceLast: undefined,
  };
  const write = (run: FolderRun) => writeAtomicFile(join(folder, 'summary.json'), textOf(run));
  const began = files.map(({ planned }) => notTried(planned));
  await write({ ...facts, startedAt, endedAt: null, exitCode: null, reason: 'running', outcomes: began });
  const outcomes: FileOutcome[] = [];
  for (const file of files) {
    const hasEnded = outcomes.some(({ failure }) => failure !== undefined && endsAll(failure));
    outcomes.push(hasEnded ? notTried(file.planned) : await exportOne(order, file));
  }
  const failure = withHint(failureOfFolder(outcomes));
  const end = { exitCode: failure?.exitCode ?? 0, reason: reasonOf(outcomes, failure) };
  const run: FolderRun = { ...facts, startedAt, endedAt: context.clock.now(), outcomes, ...end };
  // The failure is reported, not that a full disk took no summary either.
  await write(run).catch((cause: unknown) => {
    if (failure === undefined) throw cause;
  });
  return { run, summary: textOf(run), failure };
}

function textOf(run: FolderRun): string {
  return `${JSON.stringify(folderSummary(run), null, 2)}\n`;
}

function endsAll(failure: Failure): boolean {
  return isInterruption(failure) || failure.code === 'local.file';
}

function withHint(failure: Failure | undefined): Failure | undefined {
  if (failure === undefined || failure.exitCode !== EXIT.partial) return failure;
  return reworded(failure, { hint: 'Run molar mirror sync, then export again.' });
}

async function exportOne(
  { context, source, quiet }: MirrorExport,
  { planned, table }: MirrorFile,
): Promise<FileOutcome> {
  const { query, path, flags } = planned;
  const { plan, resource } = query;
  const progress = new RowProgress(context, quiet, resource.many);
  try {
    if (!table.complete) throw notLoaded(new QueryFault(incomplete(resource.name, table)));
    const lines = await scanFormatOf(plan, flags);
    const collect = periodicCollector(lines && RAW_RECORDS);
    const { typed } = FORMATS[plan.format];
    const { receipt } = await runExport(
      {
        path,
        kind: 'whole',
        asOf: table.asOf,
        identity: identityOf(query, flags),
        filter: undefined,
        columns: columnsHash(plan),
        resume: false,
        receipt: true,
        resumable: false,
        formatter: async (written) =>
          (await typed?.(plan.columns, query.operation.fields ?? resource.fields)) ??
          lines?.formatter(written) ??
          formatterOf(plan, flags, context, { hidden: [], written }),
        pack: await packing(plan, flags, context, resource),
        ...(lines === undefined && typed === undefined && shaping(plan)),
        open: async ({ onProof }) => {
          onProof({ by: 'mirror', counted: null, unproved: null });
          return unhurried(source.pages(table, lines?.read));
        },
        onRows: (rows) => {
          progress.at(rows);
          collect(rows);
        },
      },
      { owner: lockOwner(context.clock), signal: context.signal, statistics: () => undefined },
    );
    return { planned, file: basename(path), kind: 'whole', status: 'complete', receipt };
  } catch (cause) {
    const failure = cause instanceof QueryFault ? queryFailure(cause, '') : failureOf(cause);
    return { ...notTried(planned), status: 'failed', failure };
  } finally {
    await progress.stop();
  }
}

/** Of a resource that is not complete no file is written; the others are (exit 6). */
function notLoaded(fault: QueryFault): Failure {
  return localFailure('run.partial', queryFailure(fault, '').message, { hint: fault.facts.hint ?? '' });
}

/** The same pages, with a turn of the event loop between two, in which signals arrive. */
async function* unhurried(pages: AsyncIterable<RowPage>) {
  for await (const { rows } of pages) {
    yield { rows, position: undefined };
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
