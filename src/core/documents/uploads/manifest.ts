import { usageFailure } from '../../failure.ts';
import { textFrom } from '../../textfile.ts';
import { type CsvRow, CsvSyntax, NOT_COMMAS, parseCsv, unescapeFormula } from './csvrows.ts';
import {
  type EarlierOutcome,
  EXTRA_COLUMNS,
  MANIFEST_COLUMNS,
  RESULT_COLUMNS,
  REVIEW_COLUMNS,
  splitTags,
  UNKNOWN,
  UPLOAD_STATUSES,
  type UploadRow,
  type UploadStatus,
} from './uploadrow.ts';

const KNOWN: readonly string[] = [...MANIFEST_COLUMNS, ...EXTRA_COLUMNS, ...RESULT_COLUMNS, ...REVIEW_COLUMNS];

/**
 * Reads a manifest, the results CSV of an earlier run (contract §2) or a review file, columns in any order,
 * `file` required. With a column `candidates` a row without an owner is still for review.
 * `label` names it in messages. Throws a Failure with exit code 2 that says what is wrong and in which line.
 */
export function readManifest(bytes: Uint8Array, label: string): UploadRow[] {
  return readManifestTable(bytes, label).rows;
}

/** The same, with the names of its columns. */
export function readManifestTable(
  bytes: Uint8Array,
  label: string,
): { readonly columns: readonly string[]; readonly rows: UploadRow[] } {
  const [header, ...rows] = parse(bytes, label);
  if (header === undefined) throw usageFailure(`${label} is empty. ${COLUMNS_HINT}`, { source: label });
  const columns = readHeader(header.cells, label);
  return { columns, rows: rows.map((row) => readRow(row, columns, `${label} line ${row.line}`)) };
}

const COLUMNS_HINT = `Its first line must name columns: ${MANIFEST_COLUMNS.join(',')} (only file is required).`;

function parse(bytes: Uint8Array, label: string): CsvRow[] {
  const text = textFrom(bytes, label);
  try {
    return parseCsv(text);
  } catch (cause) {
    if (cause instanceof CsvSyntax) throw usageFailure(`${label} ${cause.message}`, { source: label });
    throw cause;
  }
}

function readHeader(cells: readonly string[], label: string): string[] {
  const names = cells.map((cell) => cell.trim());
  const wrong = (what: string) => usageFailure(`${label}: ${what}`, { source: label });
  if (names.length === 1 && /[;\t]/.test(names[0] ?? '')) throw wrong(`${NOT_COMMAS} ${COLUMNS_HINT}`);
  const unknown = names.filter((name) => !KNOWN.includes(name)).map((name) => JSON.stringify(name));
  if (unknown.length > 0) throw wrong(`unknown column ${unknown.join(', ')}. Columns: ${KNOWN.join(', ')}.`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw wrong(`column ${twice} appears twice.`);
  if (!names.includes('file')) throw wrong(`column file is missing. ${COLUMNS_HINT}`);
  return names;
}

function readRow(row: CsvRow, columns: readonly string[], location: string): UploadRow {
  if (row.cells.length > columns.length) {
    throw usageFailure(
      `${location}: ${row.cells.length} cells but ${columns.length} columns. Quote cells that hold commas.`,
    );
  }
  const cells = new Map(columns.map((name, index) => [name, unescapeFormula(row.cells[index] ?? '')] as const));
  const text = (name: string) => cells.get(name)?.trim() ?? '';
  const given = (name: string) => (text(name) === '' ? {} : { [name]: text(name) });
  // Names of files may begin or end with spaces: the cell is taken as it is.
  const file = cells.get('file') ?? '';
  if (file.trim() === '') throw usageFailure(`${location}: file is empty.`);
  return {
    file,
    ...Object.assign({}, ...['name', 'patient', 'perioExam', 'mimeType', ...EXTRA_COLUMNS].map(given)),
    tags: splitTags(text('tags')),
    location,
    ...(columns.includes('candidates') && text('patient') === '' && text('perioExam') === '' && unreviewed(text)),
    ...(text('status') !== '' && { earlier: readOutcome(text, location) }),
  };
}

/** A row of a review file that nobody has given a patient. */
function unreviewed(text: (name: string) => string): Pick<UploadRow, 'patient' | 'review'> {
  const candidates = text('candidates').split(';').filter(Boolean);
  return { patient: UNKNOWN, review: { reason: 'The patient is still missing.', candidates } };
}

function readOutcome(text: (name: string) => string, location: string): EarlierOutcome {
  const status = text('status').toLowerCase() as UploadStatus;
  if (!UPLOAD_STATUSES.includes(status)) {
    throw usageFailure(`${location}: status ${text('status')} is none of ${UPLOAD_STATUSES.join(', ')}.`);
  }
  if (status === 'done' && !/^[1-9]\d*$/.test(text('id'))) {
    throw usageFailure(`${location}: status done needs the id of the document. Empty the status to upload the file.`);
  }
  return {
    status,
    attempts: /^\d+$/.test(text('attempts')) ? Number(text('attempts')) : 0,
    ...(text('id') !== '' && { id: text('id') }),
    ...(text('storedName') !== '' && { storedName: text('storedName') }),
  };
}
