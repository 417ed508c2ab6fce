import { isPlainObject } from '../../catalog/fields/kind.ts';
import type { Row } from '../pages/page.ts';
import { bodyText, type Envelope, readEnvelope } from '../transport/envelope.ts';
import { Utf8Builder } from '../utf8builder.ts';
import { JsonBytes } from './jsonbytes.ts';
import type { RecordBytes } from './recordbytes.ts';
import { ByteToken, Code } from './tokens.ts';

/** The text of a record in the output: a part of the text of its page. */
export class RecordText {
  constructor(
    /** As the server sent it. */
    readonly id: unknown,
    /** UTF-8 text of all records of its page, one after another. */
    readonly page: Uint8Array,
    readonly start: number,
    readonly end: number,
  ) {}
}

/** The text of records; not copied where they follow each other in a page, as they usually do. */
export function joined(records: readonly RecordText[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let first = 0, next = 1; first < records.length; first = next++) {
    const { page, start, end } = records[first] as RecordText;
    let last = end;
    for (; records[next]?.page === page && records[next]?.start === last; next++)
      last = (records[next] as RecordText).end;
    parts.push(page.subarray(start, last));
  }
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}

/** Writes a record for the output: from its bytes, or from the parsed row. Both give the same text. */
export interface RecordWriter {
  readonly record: RecordBytes;
  /** Appends the record that `record` has just read, from `start` on, up to where `json` stands. */
  readonly fromBytes: (out: Utf8Builder, json: JsonBytes, start: number) => void;
  readonly fromRow: (row: Row) => string;
}

const HEAD = new ByteToken('{"data":[');
const INITIAL_CAPACITY = 256 * 1024;

/**
 * Reads pages straight into output text: `data` of the envelope is a list of `RecordText`. The records of a page are
 * parsed only where `RecordBytes` does not know their layout. Anything but an envelope with a list of records is returned
 * as `readEnvelope` gives it.
 */
export function pageScanner(writer: RecordWriter): (body: Uint8Array) => Envelope | undefined {
  const out = new Utf8Builder(INITIAL_CAPACITY);
  // One for all pages: V8 drops the code it made for a class when it finds no object of it at a collection.
  const json = new JsonBytes();
  return (body) => {
    json.open(body);
    const scanned = scan(json, writer, out);
    if (scanned !== undefined) return scanned;
    const envelope = readEnvelope(bodyText(body));
    const rows = envelope?.data;
    if (envelope === undefined || !Array.isArray(rows) || !rows.every(isPlainObject)) return envelope;
    out.clear();
    const ends = rows.map((row) => {
      out.text(writer.fromRow(row));
      return out.length;
    });
    const ids = rows.map(({ id }) => id);
    return { ...envelope, data: recordTexts(out, ends, ids) };
  };
}

function scan(json: JsonBytes, writer: RecordWriter, out: Utf8Builder): Envelope | undefined {
  const body = json.bytes;
  const { record } = writer;
  if (!json.token(HEAD)) return undefined;
  out.clear();
  record.begin();
  const ends: number[] = [];
  const ids: unknown[] = [];
  if (body[json.at] !== Code.closeArray) {
    for (;;) {
      const start = json.at;
      if (!record.read(json)) return undefined;
      writer.fromBytes(out, json, start);
      ends.push(out.length);
      ids.push(record.id(json));
      if (body[json.at] !== Code.comma) break;
      json.at++;
    }
  }
  if (body[json.at] !== Code.closeArray) return undefined;
  const rest = readEnvelope(`{"data":[${bodyText(body.subarray(json.at))}`);
  return rest && { ...rest, data: recordTexts(out, ends, ids) };
}

function recordTexts(out: Utf8Builder, ends: readonly number[], ids: readonly unknown[]): RecordText[] {
  const page = Buffer.from(out.bytes.subarray(0, out.length));
  return ends.map((end, index) => new RecordText(ids[index], page, ends[index - 1] ?? 0, end));
}
