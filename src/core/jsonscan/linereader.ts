import { isPlainObject } from '../../catalog/fields/kind.ts';
import type { Row } from '../pages/page.ts';
import { bodyText, type Envelope, readEnvelope } from '../transport/envelope.ts';
import { Utf8Builder } from '../utf8builder.ts';
import { ByteToken } from './bytetoken.ts';
import { Code } from './codes.ts';
import { JsonBytes } from './jsonbytes.ts';
import { RecordText } from './line.ts';
import type { RecordBytes } from './recordbytes.ts';

/** Makes a line of the output from a record: from its bytes, or from what was parsed. Both give the same text. */
export interface RecordWriter {
  readonly record: RecordBytes;
  /** Appends the record that `record` has just read, from `start` on, up to where `json` stands. */
  readonly fromBytes: (out: Utf8Builder, json: JsonBytes, start: number) => void;
  readonly fromRow: (row: Row) => string;
}

const HEAD = new ByteToken('{"data":[');
const INITIAL_CAPACITY = 256 * 1024;

/**
 * Reads pages straight into lines of the output: `data` of the envelope is a list of `Line`. The records of a page are
 * parsed only where the server writes them in a way that `RecordBytes` does not know. What is no envelope, and data
 * that is no list of records, come out as `readEnvelope` gives them.
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
    return {
      ...envelope,
      data: linesOf(
        out,
        ends,
        rows.map(({ id }) => id),
      ),
    };
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
  return rest && { ...rest, data: linesOf(out, ends, ids) };
}

function linesOf(out: Utf8Builder, ends: readonly number[], ids: readonly unknown[]): RecordText[] {
  const page = Buffer.from(out.bytes.subarray(0, out.length));
  return ends.map((end, index) => new RecordText(ids[index], page, ends[index - 1] ?? 0, end));
}
