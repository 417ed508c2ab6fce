import type { Row } from '../pages/page.ts';
import type { Formatter } from './format.ts';

/** One JSON array, a record a line; `written` records stand in it already. */
export function jsonFormatter(written = 0): Formatter {
  let count = written;
  return {
    begin: () => '[',
    rows: (rows) => rows.map((row) => `${count++ === 0 ? '\n' : ',\n'}${JSON.stringify(row)}`).join(''),
    end: () => (count === 0 ? ']\n' : '\n]\n'),
  };
}

/** One JSON object a line. */
export function ndjsonFormatter(): Formatter {
  return {
    begin: () => '',
    rows: (rows) => rows.map((row: Row) => `${JSON.stringify(row)}\n`).join(''),
    end: () => '',
  };
}
