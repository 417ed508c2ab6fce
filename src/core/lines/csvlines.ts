import type { ByteText } from '../bytetext.ts';
import type { Column } from '../output/columns.ts';
import { type CsvOptions, csvCell, csvFormatter } from '../output/csv.ts';
import { Code } from './codes.ts';
import type { LineWriter } from './linereader.ts';
import { Found, parsed, RecordBytes } from './recordbytes.ts';

/** Commas, quotes around a cell, and an apostrophe in it: what a cell can take beside its own bytes and their doubles. */
const AROUND_CELL = 4;

/** Writes the lines that `csvFormatter` writes. */
export function csvLineWriter(columns: readonly Column[], options: CsvOptions): LineWriter {
  const record = new RecordBytes(columns);
  const formatter = csvFormatter(columns, options);
  const lineEnd = Buffer.from(options.excel ? '\r\n' : '\n');
  const { starts, ends, found } = record;
  const cell = (out: ByteText, bytes: Uint8Array, slot: number) => {
    const start = starts[slot] as number;
    const end = ends[slot] as number;
    switch (found[slot]) {
      case Found.nothing:
        return;
      case Found.word:
        return out.copy(bytes, start, end);
      case Found.text:
      case Found.textWithComma:
        return text(out, bytes, start, end, found[slot] === Found.textWithComma, options.escapeFormulas);
      case Found.nested:
        return nested(out, bytes, start, end);
      default: {
        out.text(csvCell(parsed(bytes, start, end), options.escapeFormulas));
        out.reserve(roomFor(bytes.length - start));
      }
    }
  };
  const roomFor = (length: number) => 2 * length + AROUND_CELL * (columns.length + 1);
  return {
    record,
    fromBytes: (out, bytes, start, end) => {
      out.reserve(roomFor(end - start));
      const lineStart = out.length;
      for (let slot = 0; slot < columns.length; slot++) {
        if (slot > 0) out.put(Code.comma);
        cell(out, bytes, slot);
      }
      // A line of one empty cell would be a blank one, which readers skip.
      if (out.length === lineStart && columns.length === 1) out.text('""');
      out.append(lineEnd);
    },
    fromRow: (row) => formatter.rows([row]),
  };
}

/** A string that has neither quotes nor line breaks: JSON would have written them with a backslash. */
function text(
  out: ByteText,
  bytes: Uint8Array,
  start: number,
  end: number,
  hasComma: boolean,
  escapeFormulas: boolean,
): void {
  if (hasComma) out.put(Code.quote);
  if (escapeFormulas && end > start && isFormula(bytes[start])) out.put(Code.apostrophe);
  out.copy(bytes, start, end);
  if (hasComma) out.put(Code.quote);
}

/** As in `neutralised`; tabs and carriage returns have a backslash in JSON. */
function isFormula(first: number | undefined): boolean {
  return first === Code.equals || first === Code.plus || first === Code.minus || first === Code.atSign;
}

function nested(out: ByteText, bytes: Uint8Array, start: number, end: number): void {
  let isBare = true;
  for (let at = start; at < end && isBare; at++) isBare = bytes[at] !== Code.quote && bytes[at] !== Code.comma;
  if (isBare) {
    out.copy(bytes, start, end);
    return;
  }
  out.put(Code.quote);
  for (let at = start; at < end; at++) {
    const code = bytes[at] as number;
    if (code === Code.quote) out.put(Code.quote);
    out.put(code);
  }
  out.put(Code.quote);
}
