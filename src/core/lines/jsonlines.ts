import type { Row } from '../pages/page.ts';
import { MORE_COPIED } from './jsonbytes.ts';
import type { LineWriter } from './linereader.ts';
import { parsed, RecordBytes } from './recordbytes.ts';

/** Writes a whole record as `JSON.stringify` does, with `before` and `after` around it. */
export function jsonLineWriter({ before, after }: { readonly before: string; readonly after: string }): LineWriter {
  const record = new RecordBytes([]);
  const fromRow = (row: Row) => before + JSON.stringify(row) + after;
  const [lead, end] = [Buffer.from(before), Buffer.from(after)];
  return {
    record,
    fromBytes: (out, json, from) => {
      if (!record.plain) return out.text(fromRow(parsed(json.bytes, from, json.at) as Row));
      const length = json.at - from;
      out.reserve(lead.length + length + end.length + MORE_COPIED);
      for (let at = 0; at < lead.length; at++) out.put(lead[at] as number);
      json.copy(out.view, out.length, from, json.at);
      out.length += length;
      for (let at = 0; at < end.length; at++) out.put(end[at] as number);
    },
    fromRow,
  };
}
