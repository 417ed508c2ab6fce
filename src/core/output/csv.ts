import type { Row } from '../pages/page.ts';
import { type Column, cellText, valueAt } from './columns.ts';
import type { RecordCounter } from './json.ts';
import type { Formatter } from './writepages.ts';

/** Form of CSV; TSV has the same header and formulas. */
export interface CsvOptions {
  readonly header: boolean;
  /** A byte order mark and CRLF, as Excel expects them. */
  readonly excel: boolean;
  /** Whether text that a spreadsheet would run as a formula is neutralised. */
  readonly escapeFormulas: boolean;
}

/**
 * RFC 4180 (contract §2): a header even without rows, quotes where they are needed, nothing for null. Not with
 * csv-stringify, whose allocations for each cell take an export of 500k patients from 140 to 172 MB.
 */
export function csvFormatter(columns: readonly Column[], options: CsvOptions): Formatter {
  const lineEnd = options.excel ? '\r\n' : '\n';
  const line = (cells: string) => (cells === '' && columns.length === 1 ? BLANK : cells) + lineEnd;
  const header = options.header ? line(columns.map((column) => quoted(column.name)).join(',')) : '';
  return {
    begin: () => (options.excel ? '\uFEFF' : '') + header,
    rows: (rows) => rows.map((row) => line(csvCells(row, columns, options.escapeFormulas))).join(''),
    end: () => '',
  };
}

/** A record of one empty cell would be a blank line, which readers skip. */
const BLANK = '""';

function csvCells(row: Row, columns: readonly Column[], escapeFormulas: boolean): string {
  return columns.map((column) => csvCell(valueAt(row, column), escapeFormulas)).join(',');
}

/** A value as it is written between two commas. */
export function csvCell(value: unknown, escapeFormulas: boolean): string {
  return quoted(typeof value === 'string' && escapeFormulas ? neutralised(value) : cellText(value));
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Text that a spreadsheet would run as a formula is prefixed with an apostrophe, which makes it plain text there. */
export function neutralised(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/**
 * A sign that begins a formula, also in the full width that East Asian versions take for the same; behind white space and
 * byte order marks, which some programs remove. A tab or line break in front may end the cell for a program that reads
 * quotes in its own way, so text that begins with one is never left as it is.
 */
const FORMULA = /^(?:[\t\n\r]|\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/;

/** The first bytes, in UTF-8, of text that `FORMULA` may fit: a sign, white space, a mark, or a sign in full width. */
export const FORMULA_BYTES: ReadonlySet<number> = new Set(
  [...'=+-@ \u00A0\u1680\u2000\u3000\uFF1D'].map((sign) => Buffer.from(sign)[0] as number),
);

const QUOTE = 0x22;
const LINE_FEED = 0x0a;

/** Counts line ends outside of quotes, since a cell may hold others (RFC 4180); a header is no record. */
export function csvCounter(header: boolean): RecordCounter {
  let records = header ? -1 : 0;
  let quoted = false;
  return {
    take: (bytes) => {
      for (const byte of bytes) {
        if (byte === QUOTE) quoted = !quoted;
        else if (byte === LINE_FEED && !quoted) records++;
      }
    },
    total: () => records,
  };
}
