import type { Page, Row } from '../pages/page.ts';
import type { Sink } from './sink.ts';

/** Turns records into text, or into its bytes in UTF-8, page by page; buffers no more than a page. */
export interface Formatter<Text extends string | Uint8Array = string> {
  /** Before the first record, also when there is none. */
  readonly begin: () => string;
  /** Takes whole pages, since the text it makes of them is not on the heap. */
  readonly takesPages?: true;
  /** Called with a page before its records come in slices. */
  readonly page?: (rows: readonly Row[]) => void;
  readonly rows: (rows: readonly Row[]) => Text;
  readonly end: () => string | Text;
}

/** What to write pages with. */
export interface Writing {
  readonly formatter: Formatter<string | Uint8Array>;
  readonly sink: Sink;
  /** Applied to every record before it is formatted. */
  readonly shape?: (row: Row) => Row;
  /** Called after each page with the number of records written so far. */
  readonly onRows?: (total: number) => void;
  /** The sink has the beginning already, since an earlier run is resumed. */
  readonly begun?: boolean;
}

/** Records formatted at a time: the text of a page of 500 makes the process grow by 20 MB over a long export. */
const SLICE = 100;

/**
 * Writes pages as they arrive and returns the number of records. The sink is committed after the last page and aborted
 * when anything throws. Nothing is written before the first page has arrived, so a run that fails at once leaves the
 * output empty.
 */
export async function writePages(pages: AsyncIterable<Pick<Page, 'rows'>>, writing: Writing): Promise<number> {
  const { formatter, sink, shape, onRows } = writing;
  let total = 0;
  let begun = writing.begun ?? false;
  try {
    for await (const page of pages) {
      // What is laid out by a page needs its records as they are written.
      const isWhole = formatter.page !== undefined && shape !== undefined;
      const rows = isWhole ? page.rows.map(shape) : page.rows;
      formatter.page?.(rows);
      const size = formatter.takesPages ? Math.max(1, rows.length) : SLICE;
      for (let at = 0; at === 0 || at < rows.length; at += size) {
        const slice = rows.slice(at, at + size);
        const text = formatter.rows(shape === undefined || isWhole ? slice : slice.map(shape));
        await sink.write(begun ? text : joined(formatter.begin(), text));
        begun = true;
      }
      total += rows.length;
      onRows?.(total);
    }
    await sink.write(joined(begun ? '' : formatter.begin(), formatter.end()));
    await sink.commit();
  } catch (cause) {
    await sink.abort();
    throw cause;
  }
  return total;
}

function joined(start: string, text: string | Uint8Array): string | Uint8Array {
  return typeof text === 'string' ? start + text : Buffer.concat([Buffer.from(start), text]);
}
