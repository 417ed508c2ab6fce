import type { Column } from '../output/columns.ts';
import { type CsvOptions, csvFormatter } from '../output/csv.ts';
import type { Formatter } from '../output/writepages.ts';

import type { PageQuestion, Row } from '../pages/page.ts';
import { csvLineWriter } from './csvlines.ts';
import { jsonLineWriter } from './jsonlines.ts';
import { joined, Line } from './line.ts';
import { lineReader } from './linereader.ts';

/**
 * A form whose records are written while their page is read: `read` is for the walk that the pages come from, and the
 * formatter takes the records of these pages. The text is that of the formatter of this format to the byte.
 */
export interface LineForm {
  readonly read: NonNullable<PageQuestion['read']>;
  /** `written` records stand in the output already. */
  readonly formatter: (written: number) => Formatter<Uint8Array>;
}

export function csvLines(columns: readonly Column[], options: CsvOptions): LineForm {
  const { begin, end } = csvFormatter(columns, options);
  return {
    read: lineReader(csvLineWriter(columns, options)),
    formatter: () => ({ takesPages: true, begin, rows: joinedRows, end }),
  };
}

/** One JSON object a line: the whole record. */
export function ndjsonLines(): LineForm {
  const nothing = () => '';
  return {
    read: lineReader(jsonLineWriter({ before: '', after: '\n' })),
    formatter: () => ({ takesPages: true, begin: nothing, rows: joinedRows, end: nothing }),
  };
}

/** One JSON array, a whole record a line. */
export function jsonLines(): LineForm {
  return {
    read: lineReader(jsonLineWriter({ before: ',\n', after: '' })),
    formatter: (written) => {
      let isFirst = written === 0;
      return {
        takesPages: true,
        begin: () => '[',
        rows: (rows) => {
          const text = joinedRows(rows);
          if (!isFirst || text.length === 0) return text;
          isFirst = false;
          // The first record has none before it.
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
      if (row instanceof Line) return row;
      throw new Error('A record was not read as a line.');
    }),
  );
}
