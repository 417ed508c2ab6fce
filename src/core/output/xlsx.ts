import { strToU8, Zip, ZipDeflate } from 'fflate';
import { localFailure } from '../failure.ts';
import type { Sink } from './sink.ts';
import { xmlText } from './xlsxsheet.ts';

/** Maximum bytes of a part without the 64-bit form of ZIP, which the library does not write. */
const MAX_BYTES = 0xffff_ffff;

/** The same in every file, so that equal content gives equal files. */
const MODIFIED = new Date(1980, 0, 1);

/**
 * An Excel workbook of one sheet: takes the XML of the sheet (`sheetFormatter`) piece by piece and writes the packed
 * file to `inner`, buffering no more than a piece. Throws a Failure when the sheet is over 4 GB.
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
      if (size > MAX_BYTES) {
        throw localFailure('local.file', 'This is too much for one spreadsheet: its sheet would be over 4 GB.', {
          hint: 'Nothing was written. Use --format csv, or select fewer fields with --fields.',
        });
      }
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

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const LINKS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const TYPES = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Path of the sheet in the file. */
const SHEET_PATH = 'xl/worksheets/sheet1.xml';

/** Everything of a workbook of one sheet but the sheet itself: path and text (ECMA-376). */
function workbookParts(sheet: string): [path: string, text: string][] {
  return [
    [
      '[Content_Types].xml',
      `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPES}.sheet.main+xml"/><Override PartName="/${SHEET_PATH}" ContentType="${TYPES}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPES}.styles+xml"/></Types>`,
    ],
    [
      '_rels/.rels',
      `${HEAD}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${LINKS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ],
    [
      'xl/workbook.xml',
      `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${LINKS}"><sheets><sheet name="${xmlText(sheetName(sheet))}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `${HEAD}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${LINKS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${LINKS}/styles" Target="styles.xml"/></Relationships>`,
    ],
    ['xl/styles.xml', HEAD + STYLES],
  ];
}

/** A name that a sheet may have: 31 characters, none of those that formulas need. */
function sheetName(name: string): string {
  return name.replace(/[[\]:*?/\\']/g, ' ').slice(0, 31) || 'Sheet1';
}

const format = (id: number, font = 0) =>
  `<xf numFmtId="${id}" fontId="${font}" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>`;

/** Cell formats in the order of STYLE: plain, bold header, date, date-time, dollars, text. */
const STYLES = [
  `<styleSheet xmlns="${MAIN}">`,
  '<numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>',
  '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>',
  '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>',
  '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>',
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>',
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>',
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>',
  `<cellXfs count="6">${[format(0), format(49, 1), format(164), format(165), format(4), format(49)].join('')}</cellXfs>`,
  '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>',
  '</styleSheet>',
].join('');
