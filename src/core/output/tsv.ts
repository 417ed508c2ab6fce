import type { Row } from '../pages/page.ts';
import { type Column, cellText, valueAt } from './columns.ts';
import { type CsvOptions, neutralised } from './csv.ts';
import type { RecordCounter } from './json.ts';
import type { Formatter } from './writepages.ts';

/**
 * Tab-separated values (IANA text/tab-separated-values): a header even without rows, a record per line, nothing for null.
 * The format has no quotes, so tab, line feed, carriage return and backslash are `\t \n \r \\`, as `jq @tsv` and
 * PostgreSQL's COPY write and read them.
 */
export function tsvFormatter(
  columns: readonly Column[],
  { header, escapeFormulas }: Pick<CsvOptions, 'header' | 'escapeFormulas'>,
): Formatter {
  const line = (cells: readonly string[]) => `${cells.join('\t')}\n`;
  const cell = (value: unknown) => {
    return escaped(typeof value === 'string' && escapeFormulas ? neutralised(value) : cellText(value));
  };
  return {
    begin: () => (header ? line(columns.map(({ name }) => escaped(name))) : ''),
    rows: (rows: readonly Row[]) =>
      rows.map((row) => line(columns.map((column) => cell(valueAt(row, column))))).join(''),
    end: () => '',
  };
}

const ESCAPES: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' };

function escaped(text: string): string {
  return text.replace(/[\t\n\r\\]/g, (sign) => ESCAPES[sign] ?? sign);
}

const LINE_FEED = 0x0a;

/** Counts lines, since no cell holds a line feed; a header is no record. */
export function tsvCounter(header: boolean): RecordCounter {
  let records = header ? -1 : 0;
  return {
    take: (bytes) => {
      for (const byte of bytes) if (byte === LINE_FEED) records++;
    },
    total: () => records,
  };
}
