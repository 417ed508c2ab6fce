import { project } from '../output/columns.ts';
import type { Row } from '../pages/page.ts';
import type { LineWriter } from './linereader.ts';
import { parsed, RecordBytes } from './recordbytes.ts';

/**
 * Writes a record as JSON on a line of its own, with the selected names only: what `JSON.stringify` makes of `project`.
 * `before` and `after` stand around it.
 */
export function jsonLineWriter(
  selection: readonly string[] | undefined,
  { before, after }: { readonly before: string; readonly after: string },
): LineWriter {
  const record = new RecordBytes([]);
  const fromRow = (row: Row) => before + JSON.stringify(project(row, selection)) + after;
  const [lead, end] = [Buffer.from(before), Buffer.from(after)];
  return {
    record,
    fromBytes: (out, bytes, from, to) => {
      if (!record.plain || selection !== undefined) return out.text(fromRow(parsed(bytes, from, to) as Row));
      out.append(lead);
      out.append(bytes.subarray(from, to));
      return out.append(end);
    },
    fromRow,
  };
}
