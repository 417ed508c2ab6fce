import { EXIT } from '../../catalog/failures.ts';
import { Failure, isInterruption } from '../../core/failure.ts';
import type { FileOutcome } from './foldersummary.ts';

/**
 * The failure of a run whose files are not all there (contract §4): 6 when some are, that of the cause when all failed
 * for one; undefined when nothing is missing.
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

/** Why a run ended, for `summary.json`: `complete`, or a code; the end of its time is told also when some files are there. */
export function reasonOf(outcomes: readonly FileOutcome[], failure: Failure | undefined): string {
  const overtime = outcomes.find((outcome) => outcome.failure?.code === 'run.overtime');
  return overtime?.failure?.code ?? failure?.code ?? 'complete';
}

function hintOf(first: Failure, oneCause: boolean): string {
  const again = 'Run it again with --resume: it goes on where this run stopped. No bookmark has moved.';
  const refused: readonly number[] = [EXIT.usage, EXIT.auth, EXIT.notFound, EXIT.refused];
  return oneCause && refused.includes(first.exitCode) && first.hint !== null ? first.hint : again;
}
