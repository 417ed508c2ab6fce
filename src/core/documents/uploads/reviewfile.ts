import { stringify } from 'csv-stringify/sync';
import { removeFile } from '../../../filesystem/durable.ts';
import { Failure, usageFailure } from '../../failure.ts';
import { bytesIfPresent, guarded, writeAtomicFile } from '../../output/atomicfile.ts';
import { escapeFormula } from './csvrows.ts';
import { readManifestTable } from './manifest.ts';
import { moveAside } from './resultsfile.ts';
import { EXTRA_COLUMNS, joinTags, MANIFEST_COLUMNS, REVIEW_COLUMNS, UNKNOWN, type UploadRow } from './uploadrow.ts';

/**
 * The review file: a manifest of the rows that have a `review`, with the reason and the candidates (ids, ascending,
 * separated by `;`) at the end, and without patients. LF, UTF-8; what a spreadsheet would run carries a quote.
 */
export function formatReview(rows: readonly UploadRow[]): string {
  const reviewed = rows.filter(({ review }) => review !== undefined);
  const extras = EXTRA_COLUMNS.filter((column) => reviewed.some((row) => row[column] !== undefined));
  const columns = [...MANIFEST_COLUMNS, ...extras];
  const cells = (row: UploadRow) => [
    ...columns.map((column) => (column === 'tags' ? joinTags(row.tags) : knownText(row[column]))),
    row.review?.reason ?? '',
    row.review?.candidates.join(';') ?? '',
  ];
  return stringify([[...columns, ...REVIEW_COLUMNS], ...reviewed.map((row) => cells(row).map(escapeFormula))]);
}

function knownText(text: string | undefined): string {
  return text === undefined || text === UNKNOWN ? '' : text;
}

/**
 * Writes the review file, or removes that of an earlier run where no row has a `review`. One in which somebody has
 * filled in patients is kept under another name. Returns that name. Throws a Failure: exit code 2 where the file is
 * another, 9 where it cannot be written.
 */
export async function writeReview(
  path: string,
  label: string,
  rows: readonly UploadRow[],
): Promise<string | undefined> {
  const isNeeded = rows.some(({ review }) => review !== undefined);
  const earlier = await earlierReview(path, label);
  if (earlier === 'another file') {
    if (!isNeeded) return undefined;
    throw usageFailure(`${label} exists and is not a review file; it would be overwritten.`, {
      source: '--review',
      hint: 'Name another file with --review.',
    });
  }
  const kept = earlier === 'filled in' ? await moveAside(path) : undefined;
  if (isNeeded) await writeAtomicFile(path, formatReview(rows));
  else if (earlier === 'as written') await guarded(`remove ${label}`, () => removeFile(path));
  return kept;
}

/** What there is at the path of the review file. */
async function earlierReview(
  path: string,
  label: string,
): Promise<'as written' | 'filled in' | 'another file' | 'none'> {
  const bytes = await bytesIfPresent(path, label);
  if (bytes === undefined) return 'none';
  try {
    const { columns, rows } = readManifestTable(bytes, label);
    if (!columns.includes(REVIEW_COLUMNS[1])) return 'another file';
    return rows.every(({ review }) => review !== undefined) ? 'as written' : 'filled in';
  } catch (cause) {
    if (cause instanceof Failure) return 'another file';
    throw cause;
  }
}
