import { lstat } from 'node:fs/promises';
import { extname } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { moveFile } from '../../../filesystem/durable.ts';
import { ignoreMissing } from '../../../filesystem/system.ts';
import { Failure, usageFailure } from '../../failure.ts';
import { bytesIfPresent, guarded, writeAtomicFile } from '../../output/atomicfile.ts';
import { escapeFormula } from './csvrows.ts';
import { readManifest } from './manifest.ts';
import {
  EXTRA_COLUMNS,
  joinTags,
  MANIFEST_COLUMNS,
  RESULT_COLUMNS,
  rowKey,
  UNKNOWN,
  type UploadOutcome,
  type UploadRow,
} from './uploadrow.ts';

/** A row with its outcome. */
export interface ResultRow {
  readonly row: UploadRow;
  readonly outcome: UploadOutcome;
}

/**
 * The results CSV of a run: one line a row in the order of the rows, LF, UTF-8. `readManifest` returns the same rows,
 * with their outcomes as `earlier`; what a spreadsheet would run as a formula carries a quote.
 */
export function formatResults(results: readonly ResultRow[]): string {
  const extras = EXTRA_COLUMNS.filter((column) => results.some(({ row }) => row[column] !== undefined));
  const columns = [...MANIFEST_COLUMNS, ...extras, ...RESULT_COLUMNS];
  return stringify([
    columns,
    ...results.map((result) => columns.map((column) => escapeFormula(cellOf(result, column)))),
  ]);
}

type ResultColumn = (typeof RESULT_COLUMNS)[number];
type ColumnName = (typeof MANIFEST_COLUMNS)[number] | (typeof EXTRA_COLUMNS)[number] | ResultColumn;

function cellOf({ row, outcome }: ResultRow, column: ColumnName): string {
  if (column === 'tags') return joinTags(row.tags);
  if (column === 'error') return outcome.error?.replace(/\s+/g, ' ') ?? '';
  return String((isResult(column) ? outcome[column] : row[column]) ?? '');
}

function isResult(column: ColumnName): column is ResultColumn {
  return (RESULT_COLUMNS as readonly string[]).includes(column);
}

/** Milliseconds between two writes of the file during a run. */
const INTERVAL = 1000;

/**
 * The results CSV of a run. It is complete at any moment: all rows, each with what is known of it so far, replaced at
 * most once a second; rows without an outcome yet are pending, and a run with it searches the server first.
 */
export function resultsFile(path: string, planned: readonly ResultRow[], now: () => number) {
  const results = [...planned];
  let written = Number.NEGATIVE_INFINITY;
  let writing: Promise<void> = Promise.resolve();
  /** Writes all rows as they are now. Throws a Failure with exit code 9 when the file cannot be written. */
  const write = (): Promise<void> => {
    written = now();
    // One write after another: they share the name of the part file.
    writing = writing.catch(() => undefined).then(() => writeAtomicFile(path, formatResults(results)));
    return writing;
  };
  /** Records the outcome of a row. */
  const settled = async (index: number, outcome: UploadOutcome): Promise<void> => {
    const result = results[index];
    if (result !== undefined) results[index] = { row: result.row, outcome };
    if (now() - written >= INTERVAL) await write();
  };
  return { settled, write };
}

/** Rows of the results CSV at a path, none where there is no file. Exit code 2 when it is another file. */
export async function readEarlierResults(path: string, label: string): Promise<readonly UploadRow[]> {
  const bytes = await bytesIfPresent(path, label);
  if (bytes === undefined || bytes.length === 0) return [];
  try {
    const rows = readManifest(bytes, label);
    if (rows.every(({ earlier }) => earlier !== undefined)) return rows;
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
  }
  throw usageFailure(`${label} exists and is not a results file; it would be overwritten.`, {
    source: '--results',
    hint: 'Name another file with --results.',
  });
}

/**
 * Adds what an earlier run noted about the rows. It is a hint where to look, not proof: the file may have changed since,
 * so a row noted as done is looked for on the server with its content.
 */
export function withEarlier(rows: readonly UploadRow[], results: readonly UploadRow[]): UploadRow[] {
  const known = new Map(results.map((row) => [rowKey(row), row.earlier]));
  return rows.map((row) => {
    const earlier = row.earlier === undefined ? known.get(rowKey(row)) : undefined;
    if (earlier === undefined) return row;
    return { ...row, earlier: earlier.status === 'done' ? { ...earlier, status: 'unknown' } : earlier };
  });
}

/**
 * Renames earlier results with unfinished files of other runs; returns the new name and the number of those files. A file
 * that was for review is the same one, now that its patient is known.
 */
export async function moveUnfinished(
  path: string,
  results: readonly UploadRow[],
  rows: readonly UploadRow[],
): Promise<{ readonly path: string; readonly files: number } | undefined> {
  const mine = new Set(rows.map(rowKey));
  const named = new Set(rows.map(({ file }) => file));
  const isMine = (row: UploadRow) => mine.has(rowKey(row)) || (row.patient === UNKNOWN && named.has(row.file));
  const files = results.filter((row) => row.earlier?.status !== 'done' && !isMine(row)).length;
  // A single file that failed was seen to fail; only a batch can be forgotten.
  if (files === 0 || results.length === 1) return undefined;
  return { path: await moveAside(path), files };
}

/**
 * Renames a file to the first free of `NAME.1.csv`, `NAME.2.csv` and so on; returns the new path. Throws a Failure with
 * exit code 9 where it cannot be renamed, or none of these can be a name, as on a disk that fails or for a very long one.
 */
export function moveAside(path: string): Promise<string> {
  const extension = extname(path);
  return guarded(`rename ${path}`, async () => {
    for (let number = 1; ; number++) {
      const aside = `${path.slice(0, path.length - extension.length)}.${number}${extension}`;
      // A link that leads nowhere has its name, too.
      if ((await lstat(aside).catch(ignoreMissing)) !== undefined) continue;
      await moveFile(path, aside);
      return aside;
    }
  });
}
