import type { Column } from '../output/columns.ts';
import { type CsvOptions, csvCell, csvFormatter, FORMULA_BYTES, neutralised } from '../output/csv.ts';
import type { Utf8Builder } from '../utf8builder.ts';
import { type JsonBytes, MAX_OVERCOPY } from './jsonbytes.ts';
import type { RecordWriter } from './pagescanner.ts';
import { parsed, RecordBytes, ValueKind } from './recordbytes.ts';
import { Code } from './tokens.ts';

/** Maximum bytes of a cell besides its own and their doubles: commas, quotes and an apostrophe. */
const AROUND_CELL = 4;

/** Writes records as `csvFormatter` does. */
export function csvRecordWriter(columns: readonly Column[], options: CsvOptions): RecordWriter {
  const record = new RecordBytes(columns);
  const formatter = csvFormatter(columns, options);
  const { starts, ends, found } = record;
  const { escapeFormulas, excel } = options;
  const width = columns.length;
  const roomFor = (length: number) => 2 * length + AROUND_CELL * (width + 1) + MAX_OVERCOPY;
  /** A cell that is not written as it is. */
  const special = (out: Utf8Builder, { bytes }: JsonBytes, slot: number) => {
    const start = starts[slot] as number;
    const end = ends[slot] as number;
    switch (found[slot]) {
      case ValueKind.text:
      case ValueKind.textWithComma:
        return text(out, bytes, start, end, found[slot] === ValueKind.textWithComma, escapeFormulas);
      case ValueKind.nested:
        return nested(out, bytes, start, end);
      default: {
        out.text(csvCell(parsed(bytes, start, end), escapeFormulas));
        out.reserve(roomFor(bytes.length - start));
      }
    }
  };
  return {
    record,
    fromBytes: (out, json, start) => {
      out.reserve(roomFor(json.at - start));
      const { bytes } = json;
      const lineStart = out.length;
      let { bytes: target, view } = out;
      let to = lineStart;
      for (let slot = 0; slot < width; slot++) {
        if (slot > 0) target[to++] = Code.comma;
        const what = found[slot];
        if (what === ValueKind.nothing) continue;
        const from = starts[slot] as number;
        if (
          what === ValueKind.word ||
          (what === ValueKind.text && !(escapeFormulas && FORMULA_FIRST[bytes[from] as number] === 1))
        ) {
          const end = ends[slot] as number;
          json.copy(view, to, from, end);
          to += end - from;
          continue;
        }
        out.length = to;
        special(out, json, slot);
        ({ bytes: target, view, length: to } = out);
      }
      // Readers skip a blank line, which a single empty cell would be.
      if (to === lineStart && width === 1) target[to++] = target[to++] = Code.quote;
      if (excel) target[to++] = Code.carriageReturn;
      target[to++] = Code.lineFeed;
      out.length = to;
    },
    fromRow: (row) => formatter.rows([row]),
  };
}

/** A string that has neither quotes nor line breaks: JSON would have written them with a backslash. */
function text(
  out: Utf8Builder,
  bytes: Uint8Array,
  start: number,
  end: number,
  hasComma: boolean,
  escapeFormulas: boolean,
): void {
  if (hasComma) out.put(Code.quote);
  if (escapeFormulas && isFormula(bytes, start, end)) out.put(Code.apostrophe);
  out.copy(bytes, start, end);
  if (hasComma) out.put(Code.quote);
}

/** Whether a text may be a formula, by its first byte; tabs and line breaks have a backslash in JSON. */
const FORMULA_FIRST = Uint8Array.from({ length: 256 }, (_, byte) => (FORMULA_BYTES.has(byte) ? 1 : 0));

/** As in `neutralised`. */
function isFormula(bytes: Uint8Array, start: number, end: number): boolean {
  if (end <= start || FORMULA_FIRST[bytes[start] as number] !== 1) return false;
  const cell = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
  return neutralised(cell) !== cell;
}

function nested(out: Utf8Builder, bytes: Uint8Array, start: number, end: number): void {
  let isBare = true;
  for (let at = start; at < end && isBare; at++) isBare = bytes[at] !== Code.quote && bytes[at] !== Code.comma;
  if (isBare) {
    out.copy(bytes, start, end);
    return;
  }
  const { bytes: target } = out;
  let to = out.length;
  target[to++] = Code.quote;
  for (let at = start; at < end; at++) {
    const code = bytes[at] as number;
    if (code === Code.quote) target[to++] = Code.quote;
    target[to++] = code;
  }
  target[to++] = Code.quote;
  out.length = to;
}
