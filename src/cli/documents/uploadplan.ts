import { dirname } from 'node:path';
import { countText, quantity } from '../../core/count.ts';
import { proposePattern } from '../../core/documents/layouts/propose.ts';
import { type PlannedUpload, type ReadyUpload, readyUploads } from '../../core/documents/uploads/plan.ts';
import type { Uploaded } from '../../core/documents/uploads/uploadfile.ts';
import { displayWidth, fitText, terminalText } from '../../core/output/terminaltext.ts';

/** Maximum number of files that a plan names one by one; `--check` lists all. */
const MAX_SHOWN_FILES = 100;

/** Maximum number of folders that a plan names. */
const MAX_SHOWN_FOLDERS = 100;

const FOLDER_HEADER = ['FOLDER', 'PATIENT', 'FILES'] as const;

const HEADER = ['PATIENT', 'DATE', 'TAG', 'NAME', 'FILE'] as const;

/** What is about to be uploaded by folder, as lines of at most `columns`: whose files, and how many are not ready. */
export function folderLines(plan: readonly PlannedUpload[], columns = Number.POSITIVE_INFINITY): string[] {
  const folders = new Map<string, ReadyUpload[]>();
  for (const upload of readyUploads(plan)) {
    const folder = dirname(upload.row.file);
    folders.set(folder, [...(folders.get(folder) ?? []), upload]);
  }
  const rows = [...folders].map(([folder, uploads]) =>
    [folder, patientsText(uploads), String(uploads.length)].map(terminalText),
  );
  const review = plan.filter(({ row }) => row.review !== undefined).length;
  const refused = plan.filter(({ kind, row }) => kind === 'refused' && row.review === undefined).length;
  const more = rows.length - MAX_SHOWN_FOLDERS;
  return [
    ...(rows.length === 0
      ? []
      : aligned([FOLDER_HEADER, ...rows.slice(0, MAX_SHOWN_FOLDERS)]).map((line) => fitText(line, columns))),
    ...(more > 0 ? [`… and ${quantity(more, 'more folder')}; --check lists the files.`] : []),
    ...(review > 0 ? [`${quantity(review, 'file')} for review.`] : []),
    ...(refused > 0 ? [`${quantity(refused, 'file')} refused; --check says why.`] : []),
  ];
}

/** The patient of some files with the name, or how many patients there are. */
function patientsText(uploads: readonly ReadyUpload[]): string {
  const [only = '', ...others] = new Set(
    uploads.map(({ owner, row }) => `${owner.id} ${row.patientName ?? ''}`.trim()),
  );
  return others.length === 0 ? only : `${others.length + 1} patients`;
}

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
      ? [`… and ${quantity(ready.length - MAX_SHOWN_FILES, 'file')} more; --check lists all.`]
      : []),
    ...(refused > 0 ? [`${quantity(refused, 'file')} refused; --check says why.`] : []),
  ];
}

/** The pattern that fits the most of some paths that none has fitted. */
export function proposalText(paths: readonly string[]): string {
  const proposal = proposePattern(paths);
  if (proposal === undefined) return `No pattern known fits ${paths[0]}; molar help uploads shows how to write one.`;
  const which = proposal.files === paths.length ? 'them' : `${countText(proposal.files)} of them`;
  return `No pattern fits ${quantity(paths.length, 'file')}. This would fit ${which}: --layout '${proposal.pattern}'`;
}

/** The question before a plan is carried out. */
export function planQuestion(plan: readonly PlannedUpload[]): string {
  const ready = readyUploads(plan);
  const owners = new Set(ready.map(({ owner }) => owner.id)).size;
  return `Upload ${quantity(ready.length, 'file')} of ${quantity(owners, 'patient')} as listed?`;
}

/** How far an interrupted run got, and the file with the details. */
export function standingText(results: readonly Uploaded[], path: string): string {
  const done = results.filter(({ outcome }) => outcome.status === 'done').length;
  return `${countText(done)} of ${quantity(results.length, 'file')} uploaded so far; ${path} lists them.`;
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => displayWidth(row[column] ?? ''))));
  const padded = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - displayWidth(cell));
  return rows.map((row) => row.map(padded).join('  ').trimEnd());
}
