import { Failure, type FailureItem } from '../../failure.ts';
import { exitCodeOfRun } from '../outcome.ts';
import type { PlannedUpload } from './plan.ts';
import { settledBefore } from './uploadall.ts';
import type { Uploaded } from './uploadfile.ts';

/** More files than this are counted instead of named. */
const NAMED = 5;

/** Says which files were there already. */
export function repeatNotes(plan: readonly PlannedUpload[], results: readonly Uploaded[]): string[] {
  const notes = results.flatMap(({ repeated, document }, index) =>
    repeated && document !== undefined
      ? [`${plan[index]?.row.file}: stored already as document ${document.id}, not stored again.`]
      : [],
  );
  return notes.length <= NAMED ? notes : [`${countedFiles(notes.length)} stored already, not stored again.`];
}

/** What was assumed about files, and how many are not uploaded because an earlier run did. */
export function planNotes(plan: readonly PlannedUpload[]): string[] {
  const done = plan.filter(({ kind }) => kind === 'done').length;
  const types = plan.flatMap((planned) =>
    planned.kind === 'ready' && planned.upload.note !== undefined ? [planned.upload.note] : [],
  );
  return done === 0 ? types : [...types, `${countedFiles(done)} done in an earlier run, not uploaded again.`];
}

/** The failure of the checks alone, undefined when every file may be sent. */
export function failureOfChecks(plan: readonly PlannedUpload[]): Failure | undefined {
  const results = plan.map((planned) => {
    const before = settledBefore(planned);
    const { outcome } = before;
    return planned.kind === 'ready'
      ? { ...before, outcome: { ...outcome, status: 'done' as const, exitCode: 0 } }
      : before;
  });
  return failureOfRun(plan, results, { what: 'refused', hint: 'Put right what is listed.' });
}

/** The failure a run ends with (contract §4): that of its only file, or one that lists every file that is not done. */
export function failureOfRun(
  plan: readonly PlannedUpload[],
  results: readonly Uploaded[],
  say: { readonly what: string; readonly hint: string },
): Failure | undefined {
  const exitCode = exitCodeOfRun(results.map(({ outcome }) => outcome.exitCode));
  const [only] = results;
  if (exitCode === 0) return undefined;
  if (results.length === 1 && only?.failure !== undefined) return only.failure;
  const items = results.flatMap(({ outcome, failure }, index): FailureItem[] => {
    if (outcome.status === 'done') return [];
    const { file = '', place } = plan[index]?.row ?? {};
    const description = outcome.error ?? 'Not tried.';
    const source = place === undefined ? file : description.includes(file) ? place : `${file} (${place})`;
    return [{ code: failure?.code ?? 'run.partial', source, description }];
  });
  const codes = new Set(items.map(({ code }) => code));
  const code = codes.size === 1 && exitCode !== 6 ? items[0]?.code : undefined;
  return new Failure(`${items.length} of ${countedFiles(results.length)} ${say.what}.`, {
    code: code ?? 'run.partial',
    exitCode,
    items,
    hint: say.hint,
  });
}

export function countedFiles(files: number): string {
  return files === 1 ? '1 file' : `${files} files`;
}
