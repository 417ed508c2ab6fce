import { stringify } from 'csv-stringify/sync';
import type { Row } from '../pages/walk.ts';
import { type Column, cellText, valueAt } from './columns.ts';
import type { Formatter } from './format.ts';

export interface CsvOptions {
  readonly header: boolean;
  /** A byte order mark and CRLF, as Excel expects them. */
  readonly excel: boolean;
  /** Whether text that a spreadsheet would run as a formula is neutralised. */
  readonly escapeFormulas: boolean;
}

/** RFC 4180 (contract §2): a header also for no rows, quotes where they are needed, nothing for null. */
export function csvFormatter(columns: readonly Column[], options: CsvOptions): Formatter {
  const delimiter = options.excel ? '\r\n' : '\n';
  const write = (lines: readonly (readonly string[])[]) =>
    stringify([...lines] as string[][], {
      record_delimiter: delimiter,
      quoted_match: NEEDS_QUOTES,
      // A record of one empty cell would be a blank line, which readers skip.
      quoted_empty: columns.length === 1,
    });
  return {
    begin: () =>
      (options.excel ? '\uFEFF' : '') + (options.header ? write([columns.map((column) => column.name)]) : ''),
    rows: (rows) => write(rows.map((row) => csvCells(row, columns, options.escapeFormulas))),
    end: () => '',
  };
}

// csv-stringify quotes delimiters, quotes and the record delimiter; a lone CR or LF needs quotes whatever that is.
const NEEDS_QUOTES = /[\r\n]/;

function csvCells(row: Row, columns: readonly Column[], escapeFormulas: boolean): string[] {
  return columns.map((column) => {
    const value = valueAt(row, column);
    return typeof value === 'string' && escapeFormulas ? neutralised(value) : cellText(value);
  });
}

/** Text that a spreadsheet would run gets an apostrophe in front, which makes it plain text there. */
export function neutralised(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}
