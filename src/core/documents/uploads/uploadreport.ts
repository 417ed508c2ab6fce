import { EXIT } from '../../../catalog/failures.ts';
import { list } from '../../../catalog/fields/composites.ts';
import { id, integer } from '../../../catalog/fields/numbers.ts';
import { choice, text } from '../../../catalog/fields/text.ts';
import { date } from '../../../catalog/fields/times.ts';
import { readOnly } from '../../../catalog/record.ts';
import { countText, quantity } from '../../count.ts';
import { Failure, type FailureItem } from '../../failure.ts';
import type { Row } from '../../pages/page.ts';
import { exitCodeOfRun, reasonFor } from '../outcome.ts';
import type { PlannedUpload } from './plan.ts';
import type { Uploaded } from './uploadfile.ts';
import { UNKNOWN } from './uploadrow.ts';

/** Maximum number of files that are named one by one. */
const MAX_NAMED_FILES = 5;

/** Says which files were stored before. */
export function repeatNotes(plan: readonly PlannedUpload[], results: readonly Uploaded[]): string[] {
  const notes = results.flatMap(({ repeated, document }, index) =>
    repeated && document !== undefined
      ? [`${plan[index]?.row.file}: stored already as document ${document.id}, not stored again.`]
      : [],
  );
  return notes.length <= MAX_NAMED_FILES
    ? notes
    : [`${quantity(notes.length, 'file')} stored already, not stored again.`];
}

/** What was assumed about files, and how many are not uploaded because an earlier run did. */
export function planNotes(plan: readonly PlannedUpload[]): string[] {
  const done = plan.filter(({ kind }) => kind === 'done').length;
  const types = plan.flatMap((planned) => (planned.kind === 'ready' ? (planned.upload.note ?? []) : []));
  return done === 0 ? types : [...types, `${quantity(done, 'file')} done in an earlier run, not uploaded again.`];
}

/** The outcome of a row before anything is sent: done or refused as the plan says, otherwise pending. */
export function plannedOutcome(planned: PlannedUpload): Uploaded {
  if (planned.kind === 'done') {
    const { id = null, storedName = null, attempts } = planned.earlier;
    return { outcome: { status: 'done', id, storedName, attempts, error: null, exitCode: EXIT.done }, repeated: true };
  }
  const { kind, row } = planned;
  const nothing = { id: null, storedName: null, attempts: row.earlier?.attempts ?? 0 };
  if (kind === 'ready')
    return { outcome: { status: 'pending', ...nothing, error: null, exitCode: EXIT.interrupted }, repeated: false };
  const { failure } = planned;
  const error = reasonFor(row.file, failure.message);
  return { outcome: { status: 'failed', ...nothing, error, exitCode: failure.exitCode }, repeated: false, failure };
}

/** The failure of the checks alone, undefined when every file may be sent. */
export function failureOfChecks(plan: readonly PlannedUpload[], review?: string): Failure | undefined {
  const results = plan.map((planned) => {
    const result = plannedOutcome(planned);
    if (planned.kind !== 'ready') return result;
    return { ...result, outcome: { ...result.outcome, status: 'done' as const, exitCode: EXIT.done } };
  });
  const isReviewed = plan.every(({ kind, row }) => kind !== 'refused' || row.review !== undefined);
  const what = plan.some(({ row }) => row.review !== undefined) ? 'not ready' : 'refused';
  return failureOfRun(plan, results, { what, hint: nextStep('Correct what is listed.', review, isReviewed) });
}

/** The failure a run ends with (contract §4): that of its only file, or one that lists every file that is not done. */
export function failureOfRun(
  plan: readonly PlannedUpload[],
  results: readonly Uploaded[],
  { what, hint }: { readonly what: string; readonly hint: string },
): Failure | undefined {
  const exitCode = exitCodeOfRun(results.map(({ outcome }) => outcome.exitCode));
  if (exitCode === EXIT.done) return undefined;
  const [only] = results;
  const reviewed = plan.flatMap(({ row }) => row.review?.reason ?? []);
  if (results.length === 1 && reviewed.length === 0 && only?.failure !== undefined) return only.failure;
  const items = results.flatMap(({ outcome, failure }, index): FailureItem[] => {
    const { file = '', location, review } = plan[index]?.row ?? {};
    if (outcome.status === 'done' || review !== undefined) return [];
    const description = outcome.error ?? 'Not tried.';
    const source = location === undefined ? file : description.includes(file) ? location : `${file} (${location})`;
    return [{ code: failure?.code ?? 'run.partial', source, description }];
  });
  const [code = 'run.partial', ...others] = new Set(items.map((item) => item.code));
  return new Failure(`${countText(items.length + reviewed.length)} of ${quantity(results.length, 'file')} ${what}.`, {
    code: others.length === 0 && exitCode !== EXIT.partial ? code : 'run.partial',
    exitCode,
    items: [...items, ...countedReasons(reviewed)],
    hint,
  });
}

/** The next step: `others`, unless all files that are not done are in the review file, and what to do with that. */
export function nextStep(others: string, review: string | undefined, isReviewed: boolean): string {
  if (review === undefined) return others;
  const hint = `Write the patients into ${review}, then upload its files with --manifest ${review}.`;
  return isReviewed ? hint : `${others} ${hint}`;
}

/** Each reason why files are for review, once, with the number of files. */
function countedReasons(reasons: readonly string[]): FailureItem[] {
  return [...new Set(reasons)].map((reason) => {
    const files = reasons.filter((other) => other === reason).length;
    return { code: 'run.partial', source: null, description: `${quantity(files, 'file')}: ${reason}` };
  });
}

/** What `--check` says of each file, in the order of the files. */
export const checkedFields = {
  status: readOnly(
    choice(['ready', 'review', 'refused', 'done']),
    'Whether it may be uploaded; review: a person has to say for whom; done: an earlier run did',
  ),
  file: readOnly(text(), 'Path as given'),
  name: readOnly(text(), 'Name it is stored under, numbering aside'),
  patient: readOnly(id(), 'Owning patient'),
  perioExam: readOnly(id(), 'Owning perio exam'),
  tags: readOnly(list(text()), 'Tags'),
  mimeType: readOnly(text(), 'Type'),
  userDefinedDate: readOnly(date(), 'Date of your own'),
  bytes: readOnly(integer(), 'Size'),
  error: readOnly(text(), 'Why it is refused'),
} as const;

/** The rows of `--check`: complete for files that are ready, the request with the reason for others. */
export function checkedRows(plan: readonly PlannedUpload[]): Row[] {
  return plan.map((planned) => {
    const { kind, row } = planned;
    const requested = {
      status: row.review === undefined ? kind : 'review',
      file: row.file,
      name: row.name ?? null,
      patient: idOf(row.patient),
      perioExam: idOf(row.perioExam),
      tags: row.tags,
      mimeType: row.mimeType ?? null,
      userDefinedDate: known(row.userDefinedDate),
      bytes: null,
      error: null,
    };
    if (kind === 'refused') return { ...requested, error: reasonFor(row.file, planned.failure.message) };
    if (kind === 'done') return { ...requested, name: planned.earlier.storedName ?? requested.name };
    const { fields, storedName, source } = planned.upload;
    return { ...requested, name: storedName, mimeType: fields.mimeType, bytes: source.size };
  });
}

/** The id as a number, or the text that is none. */
function idOf(text: string | undefined): number | string | null {
  const id = known(text);
  return id !== null && /^\d{1,15}$/.test(id) ? Number(id) : id;
}

function known(text: string | undefined): string | null {
  return text === undefined || text === UNKNOWN ? null : text;
}
