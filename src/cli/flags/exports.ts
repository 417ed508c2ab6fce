import * as Flags from '@oclif/core/flags';
import type { Operation } from '../../catalog/define.ts';
import { checkBookmarkName, tellsChanges } from '../../core/exports/bookmark.ts';
import { usageFailure } from '../../core/failure.ts';
import { FORMATS, type Format, formatsWhere } from '../../core/output/formats.ts';
import type { RowPlan } from '../rows/plan.ts';
import { type FlagValues, isOn, textFlag, wholeNumber } from './values.ts';

const helpGroup = 'EXPORT';

const MAX_PARALLEL = 16;

const RESUMABLE = formatsWhere(({ isResumable }) => isResumable).join(', ');

/** Flags of an unattended export (contract §5). */
export const exportFlags = {
  resume: Flags.boolean({
    helpGroup,
    summary: `Resume an interrupted run of the same command with --out FILE (${RESUMABLE})`,
  }),
  receipt: Flags.boolean({ helpGroup, summary: 'Write FILE.receipt.json beside the finished file' }),
  'since-last': Flags.string({
    helpGroup,
    helpValue: 'NAME',
    summary:
      'Everything on the first run under this name, later only what changed since the last one, in a file of its own',
  }),
  parallel: Flags.string({
    helpGroup,
    helpValue: 'N',
    summary: `Requests at once, 1 to ${MAX_PARALLEL}; the output is the same`,
  }),
};

/** What the flags of an export say. */
export interface ExportOptions {
  readonly resume: boolean;
  readonly receipt: boolean;
  readonly sinceLast: string | undefined;
  readonly parallel: number;
}

/** Reads and checks the flags of an export. Throws a Failure (exit 2). */
export function readExportOptions(flags: FlagValues, plan: RowPlan, operation: Operation): ExportOptions {
  const resume = isOn(flags, 'resume');
  const receipt = isOn(flags, 'receipt');
  const needsFile = resume ? '--resume' : receipt ? '--receipt' : undefined;
  if (needsFile !== undefined && plan.out === undefined) {
    throw usageFailure(`${needsFile} needs a file: name it with --out FILE.`, { source: needsFile });
  }
  if (resume) checkResumable(plan.format);
  if (resume && plan.sort !== undefined) {
    throw usageFailure('--sort does not go with --resume: nothing is written before every record has been read.', {
      source: '--sort',
    });
  }
  return { resume, receipt, sinceLast: readSinceLast(flags, operation), parallel: readParallel(flags) };
}

/** Throws a Failure (exit 2) for a format whose files cannot be resumed. */
export function checkResumable(format: Format): void {
  if (FORMATS[format].isResumable) return;
  throw usageFailure(`Output as ${format} cannot be resumed; these formats can: ${RESUMABLE}.`, { source: '--resume' });
}

/** Reads `--parallel`, 1 when not given. Throws a Failure (exit 2). */
export function readParallel(flags: FlagValues): number {
  return wholeNumber(flags, 'parallel', 1, MAX_PARALLEL) ?? 1;
}

function readSinceLast(flags: FlagValues, operation: Operation): string | undefined {
  const name = textFlag(flags, 'since-last');
  if (name === undefined) return undefined;
  if (!tellsChanges(operation)) {
    throw usageFailure('--since-last needs a list that can be filtered by lastModified; this one cannot.', {
      source: '--since-last',
    });
  }
  if (textFlag(flags, 'limit') !== undefined) {
    throw usageFailure('--since-last and --limit contradict each other: records past the limit would be lost.', {
      source: '--limit',
    });
  }
  return checkBookmarkName(name, '--since-last');
}
