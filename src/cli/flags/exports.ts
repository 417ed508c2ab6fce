import * as Flags from '@oclif/core/flags';
import type { Operation } from '../../catalog/define.ts';
import { checkBookmarkName } from '../../core/exports/bookmark.ts';
import { tellsChanges } from '../../core/exports/increment.ts';
import { usageFailure } from '../../core/failure.ts';
import type { Format } from '../../core/output/format.ts';
import type { RowPlan } from '../rows/plan.ts';
import { type FlagValues, isOn, textFlag, wholeNumber } from './values.ts';

const helpGroup = 'EXPORT';

const MOST_PARALLEL = 16;

/** Flags of an export that nobody watches (contract §5). */
export const exportFlags = {
  resume: Flags.boolean({
    helpGroup,
    summary: 'Go on where an earlier run of the same line to --out FILE stopped (csv, ndjson, json)',
  }),
  receipt: Flags.boolean({ helpGroup, summary: 'Write FILE.receipt.json beside the finished file' }),
  'since-last': Flags.string({
    helpGroup,
    helpValue: 'NAME',
    summary:
      'Everything on the first run of this name, later only what changed since the last one, in a file of its own',
  }),
  parallel: Flags.string({
    helpGroup,
    helpValue: 'N',
    summary: `Requests at once, 1 to ${MOST_PARALLEL}; the output is the same`,
  }),
};

export interface ExportWishes {
  readonly resume: boolean;
  readonly receipt: boolean;
  readonly sinceLast: string | undefined;
  readonly parallel: number;
}

/** Reads and checks the flags of an export. Throws a Failure (exit 2). */
export function readExportWishes(flags: FlagValues, plan: RowPlan, operation: Operation): ExportWishes {
  const resume = isOn(flags, 'resume');
  const receipt = isOn(flags, 'receipt');
  const needsFile = resume ? '--resume' : receipt ? '--receipt' : undefined;
  if (needsFile !== undefined && plan.out === undefined) {
    throw usageFailure(`${needsFile} needs a file: name it with --out FILE.`, { source: needsFile });
  }
  if (resume && !isResumable(plan.format)) {
    throw usageFailure(`Output as ${plan.format} cannot be resumed; csv, ndjson and json can.`, { source: '--resume' });
  }
  if (resume && plan.sort !== undefined) {
    throw usageFailure('--sort does not go with --resume: nothing is written before every record has been read.', {
      source: '--sort',
    });
  }
  return { resume, receipt, sinceLast: readSinceLast(flags, operation), parallel: readParallel(flags) };
}

/** Whether an output of that form can be gone on with after an early end. */
export function isResumable(format: Format): boolean {
  return format === 'csv' || format === 'ndjson' || format === 'json';
}

export function readParallel(flags: FlagValues): number {
  return wholeNumber(flags, 'parallel', 1, MOST_PARALLEL) ?? 1;
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
