import { strToU8, Zip, ZipDeflate } from 'fflate';
import { localFailure } from '../failure.ts';
import type { Sink } from './sink.ts';
import { SHEET_PATH, workbookParts } from './xlsxworkbook.ts';

/** Bytes that a part may have without the 64-bit form of ZIP, which the library does not write. */
const MOST_BYTES = 0xffff_ffff;

/** The same in every file, so that equal content gives equal files. */
const MODIFIED = new Date(1980, 0, 1);

/**
 * An Excel workbook of one sheet: takes the XML of the sheet (`sheetFormatter`) piece by piece and writes the packed
 * file to `inner`, holding no more than a piece. Throws a Failure when the sheet is over 4 GB.
 */
export function xlsxSink(inner: Sink, sheet: string): Sink {
  let packed: Uint8Array[] = [];
  let size = 0;
  const zip = new Zip((problem, chunk) => {
    if (problem !== null) throw problem;
    packed.push(chunk);
  });
  const add = (path: string) => {
    const part = new ZipDeflate(path, { level: 6 });
    part.mtime = MODIFIED;
    zip.add(part);
    return part;
  };
  for (const [path, text] of workbookParts(sheet)) add(path).push(strToU8(text), true);
  const rows = add(SHEET_PATH);
  const drain = async () => {
    const bytes = Buffer.concat(packed);
    packed = [];
    if (bytes.length > 0) await inner.write(bytes);
  };
  return {
    async write(data) {
      const bytes = typeof data === 'string' ? Buffer.from(data) : data;
      size += bytes.length;
      if (size > MOST_BYTES) throw tooLarge();
      rows.push(bytes);
      await drain();
    },
    async commit() {
      rows.push(new Uint8Array(0), true);
      zip.end();
      await drain();
      await inner.commit();
    },
    abort: inner.abort,
  };
}

function tooLarge() {
  return localFailure('local.file', 'This is too much for one spreadsheet: its sheet would be over 4 GB.', {
    hint: 'Nothing was kept. Use --format csv, or take fewer fields with --fields.',
  });
}
