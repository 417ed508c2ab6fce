import { basename, extname } from 'node:path';
import type { Problem } from '../../../catalog/failures.ts';
import { asId } from '../../../catalog/fields/numbers.ts';
import { readFields } from '../../../catalog/record.ts';
import {
  baseNameProblem,
  canonicalMimeType,
  isImage,
  type MimeType,
  sentBaseName,
  storedName,
} from '../../../catalog/resources/documentnames.ts';
import { documentFields } from '../../../catalog/resources/documents.ts';
import { Failure, usageFailure } from '../../failure.ts';
import type { DocumentFields } from './body.ts';
import { UNKNOWN, type UploadRow } from './uploadrow.ts';

/** The owner of a document, and the field that names it in filters and bodies. */
export interface DocumentOwner {
  readonly field: 'ownerOrganization' | 'ownerPatient' | 'ownerPerioExam';
  readonly id: string;
}

/** What the folders of a layout say of a file, for messages. */
const FROM_FOLDERS = [
  ['patient', 'the id of the patient'],
  ['userDefinedDate', 'a date, YYYY-MM-DD,'],
] as const;

/** A document as it will be sent, checked against the catalog. */
export interface DocumentDraft {
  readonly fields: DocumentFields;
  readonly owner: DocumentOwner;
  /** The name the server gives it, numbering aside (D36). */
  readonly storedName: string;
}

/** Makes the fields of a document from a row. Throws a Failure with exit code 2 that holds every problem. */
export function draftDocument(row: UploadRow, type: MimeType, organization: string): DocumentDraft {
  const base = sentBaseName(row.name?.trim() ?? defaultName(row.file), type);
  const problems: Problem[] = [];
  const wrongName = baseNameProblem(base);
  if (wrongName !== undefined) problems.push({ code: 'field.length', source: 'name', description: wrongName });
  for (const [column, what] of FROM_FOLDERS) {
    const description = `Write ${what} in place of the ${UNKNOWN} in ${column}.`;
    if (row[column] === UNKNOWN) problems.push({ code: 'field.format', source: column, description });
  }
  if (problems.some(({ source }) => source !== 'name')) throw refused(row, problems);
  const crop = readCrop(row, type, problems);
  const input = {
    name: base || 'unnamed',
    mimeType: type,
    ...(row.patient !== undefined && { ownerPatient: { id: row.patient } }),
    ...(row.perioExam !== undefined && { ownerPerioExam: { id: row.perioExam } }),
    ...(row.tags.length > 0 && { tags: row.tags }),
    ...(row.userDefinedDate !== undefined && { userDefinedDate: row.userDefinedDate }),
    file: { ...crop, content: 'AAAA' },
  };
  if (row.patient !== undefined && row.perioExam !== undefined) {
    const description = 'A document has one owner: give a patient or a perio exam.';
    problems.push({ code: 'field.conflict', source: 'patient', description });
  }
  const { file, ...fields } = readFields(documentFields, input, { problems, warnings: [], mode: 'create' });
  if (problems.length > 0) throw refused(row, problems);
  const { content: _, ...checkedCrop } = file as Record<string, number>;
  return {
    fields: { ...fields, file: checkedCrop },
    owner: ownerOf(row, organization),
    storedName: storedName(base, type),
  };
}

/** Name of a file without its folder and extension. */
export function defaultName(file: string): string {
  return withoutExtension(basename(file)).normalize('NFC').trim();
}

/** A path without its extension; dots inside a name, as in dates, stay. */
export function withoutExtension(path: string): string {
  const extension = extname(path);
  const known = canonicalMimeType(extension.slice(1)) !== undefined || /^\.(?=\d*[a-z])[a-z\d]{1,5}$/i.test(extension);
  return known ? path.slice(0, -extension.length) : path;
}

function ownerOf(row: UploadRow, organization: string): DocumentOwner {
  if (row.patient !== undefined) return { field: 'ownerPatient', id: String(asId(row.patient)) };
  if (row.perioExam !== undefined) return { field: 'ownerPerioExam', id: String(asId(row.perioExam)) };
  return { field: 'ownerOrganization', id: organization };
}

const CROP = ['fromX', 'fromY', 'width', 'height'];

function readCrop(row: UploadRow, type: MimeType, problems: Problem[]): Readonly<Record<string, string>> {
  if (row.crop === undefined && row.ratio === undefined) return {};
  const problem = (source: string, description: string) => {
    problems.push({ code: 'field.conflict', source, description });
    return {};
  };
  if (row.ratio === undefined) return problem('ratio', 'A crop needs a ratio too: 1 keeps its size.');
  if (row.crop === undefined) return problem('crop', 'A ratio needs a crop too, written X,Y,WIDTH,HEIGHT.');
  if (!isImage(type)) return problem('crop', `A ${type} document cannot be cropped, only JPEG, PNG and GIF can.`);
  const parts = row.crop.split(',');
  if (parts.length !== CROP.length) {
    return problem('crop', `A crop is written X,Y,WIDTH,HEIGHT in pixels, not ${row.crop}.`);
  }
  return { ...Object.fromEntries(parts.map((part, at) => [CROP[at], part])), ratio: row.ratio };
}

function refused(row: UploadRow, problems: readonly Problem[]): Failure {
  const { code, exitCode, hint } = usageFailure('');
  return new Failure(`${row.file}: ${problems.map(({ description }) => description).join(' ')}`, {
    code,
    exitCode,
    hint,
    items: problems,
  });
}
