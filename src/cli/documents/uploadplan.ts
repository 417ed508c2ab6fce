import { type PlannedUpload, readyUploads } from '../../core/documents/uploads/plan.ts';
import type { Uploaded } from '../../core/documents/uploads/uploadfile.ts';
import { countedFiles } from '../../core/documents/uploads/uploadreport.ts';
import { displayWidth, fitText, terminalText } from '../../core/output/terminaltext.ts';

/** Maximum number of files that a plan names one by one; `--check` lists all. */
const MAX_SHOWN_FILES = 100;

const HEADER = ['PATIENT', 'DATE', 'TAG', 'NAME', 'FILE'] as const;

/** What is about to be uploaded, as lines of at most `columns`: where each file goes, and how many are refused. */
export function planLines(plan: readonly PlannedUpload[], columns = Number.POSITIVE_INFINITY): string[] {
  const ready = readyUploads(plan);
  const rows = ready
    .slice(0, MAX_SHOWN_FILES)
    .map(({ owner, row, storedName }) =>
      [owner.id, row.userDefinedDate ?? '', row.tags.join(', '), storedName, row.file].map(terminalText),
    );
  const refused = plan.filter(({ kind }) => kind === 'refused').length;
  return [
    ...(rows.length === 0 ? [] : aligned([HEADER, ...rows]).map((line) => fitText(line, columns))),
    ...(ready.length > MAX_SHOWN_FILES
      ? [`… and ${countedFiles(ready.length - MAX_SHOWN_FILES)} more; --check lists all.`]
      : []),
    ...(refused > 0 ? [`${countedFiles(refused)} refused; --check says why.`] : []),
  ];
}

/** The question before a plan is carried out. */
export function planQuestion(plan: readonly PlannedUpload[]): string {
  const ready = readyUploads(plan);
  const owners = new Set(ready.map(({ owner }) => owner.id)).size;
  return `Upload ${countedFiles(ready.length)} of ${owners} patient${owners === 1 ? '' : 's'} as listed?`;
}

/** How far an interrupted run got, and the file with the details. */
export function standingText(results: readonly Uploaded[], path: string): string {
  const done = results.filter(({ outcome }) => outcome.status === 'done').length;
  return `${done} of ${countedFiles(results.length)} uploaded so far; ${path} lists them.`;
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = HEADER.map((_, column) => Math.max(...rows.map((row) => displayWidth(row[column] ?? ''))));
  const padded = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - displayWidth(cell));
  return rows.map((row) => row.map(padded).join('  ').trimEnd());
}
