import type { Column } from '../output/columns.ts';
import { type CsvOptions, csvFormatter } from '../output/csv.ts';
import type { Formatter } from '../output/format.ts';

import type { PageOptions, Row } from '../pages/page.ts';
import { csvRecordWriter } from './csvrecords.ts';
import { joined, pageScanner, RecordText, type RecordWriter } from './pagescanner.ts';
import { parsed, RecordBytes } from './recordbytes.ts';

/**
 * A format whose records are written while their page is read: `read` is for the walk that brings the pages, and the
 * formatter takes the records of these pages. The text is byte for byte that of the plain formatter of the format.
 */
export interface ScanFormat {
  readonly read: NonNullable<PageOptions['read']>;
  /** `written`: records that are in the output already. */
  readonly formatter: (written: number) => Formatter<Uint8Array>;
}

/** CSV, as `csvFormatter` writes it. */
export function csvScanFormat(columns: readonly Column[], options: CsvOptions): ScanFormat {
  const { begin, end } = csvFormatter(columns, options);
  return {
    read: pageScanner(csvRecordWriter(columns, options)),
    formatter: () => ({ takesPages: true, begin, rows: joinedRows, end }),
  };
}

/** NDJSON: a complete record per line. */
export function ndjsonScanFormat(): ScanFormat {
  const nothing = () => '';
  return {
    read: pageScanner(jsonRecordWriter({ before: '', after: '\n' })),
    formatter: () => ({ takesPages: true, begin: nothing, rows: joinedRows, end: nothing }),
  };
}

/** One JSON array, a complete record per line. */
export function jsonScanFormat(): ScanFormat {
  return {
    read: pageScanner(jsonRecordWriter({ before: ',\n', after: '' })),
    formatter: (written) => {
      let isFirst = written === 0;
      return {
        takesPages: true,
        begin: () => '[',
        rows: (rows) => {
          const text = joinedRows(rows);
          if (!isFirst || text.length === 0) return text;
          isFirst = false;
          // No comma before the first record.
          return text.subarray(1);
        },
        end: () => (isFirst ? ']\n' : '\n]\n'),
      };
    },
  };
}

function joinedRows(rows: readonly Row[]): Uint8Array {
  return joined(
    rows.map((row: unknown) => {
      if (row instanceof RecordText) return row;
      throw new Error('A record was not read by the page scanner.');
    }),
  );
}

/** Writes a complete record as `JSON.stringify` does, with `before` and `after` around it. */
function jsonRecordWriter({ before, after }: { readonly before: string; readonly after: string }): RecordWriter {
  const record = new RecordBytes([]);
  const fromRow = (row: Row) => before + JSON.stringify(row) + after;
  const [lead, end] = [Buffer.from(before), Buffer.from(after)];
  return {
    record,
    fromBytes: (out, json, from) => {
      if (!record.plain) return out.text(fromRow(parsed(json.bytes, from, json.at) as Row));
      out.append(lead);
      out.append(json.bytes.subarray(from, json.at));
      return out.append(end);
    },
    fromRow,
  };
}
