import { strToU8, Zip, ZipDeflate } from 'fflate';
import { localFailure } from '../failure.ts';
import { xmlText } from './xlsxcells.ts';

/** Maximum bytes of a part without the 64-bit form of ZIP, which the library does not write. */
const MAX_BYTES = 0xffff_ffff;

/** The same in every file, so that equal content gives equal files. */
const MODIFIED = new Date(1980, 0, 1);

/** A sheet of a workbook. */
export interface PackagedSheet {
  readonly name: string;
  /** The row, from 1, that is repeated on every printed page. */
  readonly headerRow: number | undefined;
}

/**
 * Packs a workbook piece by piece (ECMA-376): for each sheet in turn `startSheet` and `write`, at the end `end`. `take`
 * gives the bytes made since it was called last. Throws a Failure when a sheet is over 4 GB.
 */
export class WorkbookPackage {
  private packed: Uint8Array[] = [];
  private size = 0;
  private sheet: ZipDeflate | undefined;
  private started = 0;
  private readonly zip = new Zip((problem, chunk) => {
    if (problem !== null) throw problem;
    this.packed.push(chunk);
  });

  constructor(sheets: readonly PackagedSheet[]) {
    for (const [path, text] of workbookParts(sheets)) this.add(path).push(strToU8(text), true);
  }

  startSheet(): void {
    this.closeSheet();
    this.size = 0;
    this.started++;
    this.sheet = this.add(sheetPath(this.started));
  }

  write(xml: string): void {
    const bytes = Buffer.from(xml);
    this.size += bytes.length;
    if (this.size > MAX_BYTES) {
      throw localFailure('local.file', 'This is too much for one spreadsheet: its sheet would be over 4 GB.', {
        hint: 'Nothing was written. Use --format csv, or select fewer fields with --fields.',
      });
    }
    this.sheet?.push(bytes);
  }

  end(): void {
    this.closeSheet();
    this.zip.end();
  }

  take(): Uint8Array {
    const bytes = Buffer.concat(this.packed);
    this.packed = [];
    return bytes;
  }

  private closeSheet(): void {
    this.sheet?.push(new Uint8Array(0), true);
  }

  private add(path: string): ZipDeflate {
    const part = new ZipDeflate(path, { level: 6 });
    part.mtime = MODIFIED;
    this.zip.add(part);
    return part;
  }
}

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const LINKS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const TYPES = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

const sheetPath = (number: number) => `xl/worksheets/sheet${number}.xml`;

/** Everything of a workbook but its sheets: path and text. */
function workbookParts(sheets: readonly PackagedSheet[]): [path: string, text: string][] {
  const names = sheetNames(sheets.map(({ name }) => name));
  const each = (xml: (number: number, name: string) => string) => names.map((name, at) => xml(at + 1, name)).join('');
  const override = (number: number) =>
    `<Override PartName="/${sheetPath(number)}" ContentType="${TYPES}.worksheet+xml"/>`;
  const repeated = sheets.map(({ headerRow }, at) =>
    headerRow === undefined ? '' : printTitles(at, names[at] ?? '', headerRow),
  );
  return [
    [
      '[Content_Types].xml',
      `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPES}.sheet.main+xml"/>${each(override)}<Override PartName="/xl/styles.xml" ContentType="${TYPES}.styles+xml"/></Types>`,
    ],
    [
      '_rels/.rels',
      `${HEAD}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${LINKS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ],
    [
      'xl/workbook.xml',
      `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${LINKS}"><bookViews><workbookView/></bookViews><sheets>${each((number, name) => `<sheet name="${xmlText(name)}" sheetId="${number}" r:id="rId${number}"/>`)}</sheets>${repeated.join('') === '' ? '' : `<definedNames>${repeated.join('')}</definedNames>`}</workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `${HEAD}<Relationships xmlns="${PACKAGE}/relationships">${each((number) => `<Relationship Id="rId${number}" Type="${LINKS}/worksheet" Target="worksheets/sheet${number}.xml"/>`)}<Relationship Id="rId${names.length + 1}" Type="${LINKS}/styles" Target="styles.xml"/></Relationships>`,
    ],
    ['xl/styles.xml', HEAD + STYLES],
  ];
}

function printTitles(at: number, name: string, row: number): string {
  return `<definedName name="_xlnm.Print_Titles" localSheetId="${at}">'${xmlText(name)}'!$${row}:$${row}</definedName>`;
}

/** Names that sheets may have: 31 characters, none of those that formulas need, each once in any letter case. */
function sheetNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const legal = name.replace(/[[\]:*?/\\']/g, ' ').slice(0, 31) || 'Sheet1';
    let distinct = legal;
    for (let count = 2; taken.has(distinct.toLowerCase()); count++) distinct = `${legal.slice(0, 27)} ${count}`;
    taken.add(distinct.toLowerCase());
    return distinct;
  });
}

const format = (id: number, font = 0, border = 0) =>
  `<xf numFmtId="${id}" fontId="${font}" fillId="0" borderId="${border}" xfId="0" applyNumberFormat="1" applyFont="1"${border === 0 ? '' : ' applyBorder="1"'}/>`;

const DATE = 164;
const DATE_TIME = 165;
/** Of every spreadsheet: `#,##0.00`, and text. */
const DOLLARS = 4;
const TEXT = 49;

/** Cell formats in the order of STYLE. */
const FORMATS = [
  format(0),
  format(TEXT, 1),
  format(DATE),
  format(DATE_TIME),
  format(DOLLARS),
  format(TEXT),
  format(TEXT, 2),
  format(0, 1, 1),
  format(DOLLARS, 1, 1),
];

const NO_BORDER = '<border><left/><right/><top/><bottom/><diagonal/></border>';
const LINE_ABOVE = '<border><left/><right/><top style="thin"><color auto="1"/></top><bottom/><diagonal/></border>';

const STYLES = [
  `<styleSheet xmlns="${MAIN}">`,
  `<numFmts count="2"><numFmt numFmtId="${DATE}" formatCode="yyyy\\-mm\\-dd"/>`,
  `<numFmt numFmtId="${DATE_TIME}" formatCode="yyyy\\-mm\\-dd\\ hh:mm"/></numFmts>`,
  '<fonts count="3"><font><sz val="11"/><name val="Calibri"/></font>',
  '<font><b/><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="14"/><name val="Calibri"/></font></fonts>',
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>',
  `<borders count="2">${NO_BORDER}${LINE_ABOVE}</borders>`,
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>',
  `<cellXfs count="${FORMATS.length}">${FORMATS.join('')}</cellXfs>`,
  '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>',
  '</styleSheet>',
].join('');
