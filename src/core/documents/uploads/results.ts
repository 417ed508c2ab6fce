import { stringify } from 'csv-stringify/sync';
import type { UploadOutcome } from '../outcome.ts';
import { escapeFormula } from './formulas.ts';
import { EXTRA_COLUMNS, joinTags, MANIFEST_COLUMNS, RESULT_COLUMNS, type UploadRow } from './uploadrow.ts';

/** A row with what became of it. */
export interface ResultRow {
  readonly row: UploadRow;
  readonly outcome: UploadOutcome;
}

/**
 * The results CSV of a run: one line a row in the order of the rows, LF, UTF-8. `readManifest` gives back the same rows,
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

function cellOf({ row, outcome }: ResultRow, column: ColumnName): string {
  if (column === 'tags') return joinTags(row.tags);
  if (column === 'error') return outcome.error?.replace(/\s+/g, ' ') ?? '';
  if (isResult(column)) return String(outcome[column] ?? '');
  return row[column] ?? '';
}

type ResultColumn = (typeof RESULT_COLUMNS)[number];
type ColumnName = (typeof MANIFEST_COLUMNS)[number] | (typeof EXTRA_COLUMNS)[number] | ResultColumn;

function isResult(column: ColumnName): column is ResultColumn {
  return (RESULT_COLUMNS as readonly string[]).includes(column);
}
