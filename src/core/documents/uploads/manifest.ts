import { usageFailure } from '../../failure.ts';
import { type CsvRow, CsvSyntax, parseCsv } from './csvrows.ts';
import { unescapeFormula } from './formulas.ts';
import {
  type EarlierOutcome,
  EXTRA_COLUMNS,
  MANIFEST_COLUMNS,
  RESULT_COLUMNS,
  splitTags,
  UPLOAD_STATUSES,
  type UploadRow,
  type UploadStatus,
} from './uploadrow.ts';

const KNOWN: readonly string[] = [...MANIFEST_COLUMNS, ...EXTRA_COLUMNS, ...RESULT_COLUMNS];

/**
 * Reads a manifest or the results CSV of an earlier run (contract §2): UTF-8, columns in any order, `file` required.
 * `label` names it in messages. Throws a Failure with exit code 2 that says what is wrong and in which line.
 */
export function readManifest(bytes: Uint8Array, label: string): UploadRow[] {
  const [header, ...rows] = parse(decode(bytes, label), label);
  if (header === undefined) throw usageFailure(`${label} is empty. ${COLUMNS_HINT}`, { source: label });
  const columns = readHeader(header.cells, label);
  return rows.map((row) => readRow(row, columns, `${label} line ${row.line}`));
}

const COLUMNS_HINT = `Its first line must name columns: ${MANIFEST_COLUMNS.join(',')} (only file is required).`;

function decode(bytes: Uint8Array, label: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw usageFailure(`${label} is not UTF-8 text. Save it as "CSV UTF-8".`, { source: label });
  }
}

function parse(text: string, label: string): CsvRow[] {
  try {
    return parseCsv(text);
  } catch (cause) {
    if (cause instanceof CsvSyntax) throw usageFailure(`${label} ${cause.message}`, { source: label });
    throw cause;
  }
}

function readHeader(cells: readonly string[], label: string): string[] {
  const names = cells.map((cell) => cell.trim());
  const [first = ''] = names;
  if (names.length === 1 && /[;\t]/.test(first)) {
    throw usageFailure(`${label}: its cells are not separated by commas. ${COLUMNS_HINT}`, { source: label });
  }
  const unknown = names.filter((name) => !KNOWN.includes(name));
  if (unknown.length > 0) {
    const list = unknown.map((name) => JSON.stringify(name)).join(', ');
    throw usageFailure(`${label}: unknown column ${list}. Columns: ${KNOWN.join(', ')}.`, { source: label });
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw usageFailure(`${label}: column ${twice} stands twice.`, { source: label });
  if (!names.includes('file'))
    throw usageFailure(`${label}: column file is missing. ${COLUMNS_HINT}`, { source: label });
  return names;
}

function readRow(row: CsvRow, columns: readonly string[], place: string): UploadRow {
  if (row.cells.length > columns.length) {
    throw usageFailure(
      `${place}: ${row.cells.length} cells but ${columns.length} columns. Quote cells that hold commas.`,
    );
  }
  const cells = new Map(columns.map((name, index) => [name, unescapeFormula(row.cells[index] ?? '')] as const));
  const text = (name: string) => cells.get(name)?.trim() ?? '';
  const given = (name: string) => (text(name) === '' ? {} : { [name]: text(name) });
  // Names of files may begin or end with spaces: the cell counts as it is.
  const file = cells.get('file') ?? '';
  if (file.trim() === '') throw usageFailure(`${place}: file is empty.`);
  return {
    file,
    ...Object.assign({}, ...['name', 'patient', 'perioExam', 'mimeType', ...EXTRA_COLUMNS].map(given)),
    tags: splitTags(text('tags')),
    place,
    ...(text('status') !== '' && { earlier: readOutcome(text, place) }),
  };
}

function readOutcome(text: (name: string) => string, place: string): EarlierOutcome {
  const status = text('status').toLowerCase() as UploadStatus;
  if (!UPLOAD_STATUSES.includes(status)) {
    throw usageFailure(`${place}: status ${text('status')} is none of ${UPLOAD_STATUSES.join(', ')}.`);
  }
  if (status === 'done' && !/^[1-9]\d*$/.test(text('id'))) {
    throw usageFailure(`${place}: status done needs the id of the document. Empty the status to upload the file.`);
  }
  return {
    status,
    attempts: /^\d+$/.test(text('attempts')) ? Number(text('attempts')) : 0,
    ...(text('id') !== '' && { id: text('id') }),
    ...(text('storedName') !== '' && { storedName: text('storedName') }),
  };
}
