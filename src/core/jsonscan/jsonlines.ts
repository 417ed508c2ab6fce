import type { Row } from '../pages/page.ts';
import type { RecordWriter } from './linereader.ts';
import { parsed, RecordBytes } from './recordbytes.ts';

/** Writes a whole record as `JSON.stringify` does, with `before` and `after` around it. */
export function jsonRecordWriter({ before, after }: { readonly before: string; readonly after: string }): RecordWriter {
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
