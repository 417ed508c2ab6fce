import { readdir } from 'node:fs/promises';
import readExcel from 'read-excel-file/node';
import { describe, expect, it } from 'vitest';
import { patientFields } from '../../../src/catalog/resources/patients.ts';
import { type Column, columnsOf } from '../../../src/core/output/columns.ts';
import { MAX_SHEET_ROWS, SheetWriter } from '../../../src/core/output/xlsxsheet.ts';
import type { Row } from '../../../src/core/pages/page.ts';
import { column, type Options, partOf, readBack, sharedFolder, sheetXml, workbook } from './workbooks.ts';

const folder = sharedFolder();

const made = (pages: readonly (readonly Row[])[], options: Partial<Options> = {}) =>
  workbook(pages, { folder: folder(), ...options });
const xmlOf = (rows: readonly Row[], options: Partial<Options> = {}) =>
  sheetXml(rows, { folder: folder(), ...options });
const cellsOf = (rows: readonly Row[], options: Partial<Options> = {}) =>
  readBack(rows, { folder: folder(), ...options });

const FULL = {
  id: 7000000000114,
  name: '=1+1',
  day: '2026-03-02',
  at: '2026-03-02T14:30:15.000Z',
  paid: 1234.5,
  count: 3,
  active: true,
  location: { id: 5 },
};

describe('an xlsx file', () => {
  it('reads back as dates, numbers and text', async () => {
    const [titles, cells] = await cellsOf([FULL]);
    expect(titles).toEqual(['id', 'name', 'day', 'at (UTC)', 'paid', 'count', 'active', 'location.id']);
    expect(cells).toEqual([
      '7000000000114',
      '=1+1',
      new Date('2026-03-02T00:00:00Z'),
      new Date('2026-03-02T14:30:15Z'),
      1234.5,
      3,
      true,
      '5',
    ]);
  });

  it('has local times, whichever way the service writes its instants', async () => {
    const [titles, summer, winter] = await cellsOf(
      [
        { id: 1, at: '2026-07-01T14:30:00Z' },
        { id: 2, at: '2026-12-01T15:30:00.0000000+00:00' },
      ],
      { zone: 'America/Denver' },
    );
    expect(titles?.[3]).toBe('at (America/Denver)');
    expect([summer?.[3], winter?.[3]]).toEqual([new Date('2026-07-01T08:30:00Z'), new Date('2026-12-01T08:30:00Z')]);
  });

  it('has the times of each record at its location', async () => {
    const rows = [
      { id: 1, at: '2026-07-01T14:30:00Z' },
      { id: 2, at: '2026-07-01T14:30:00Z' },
    ];
    const zoneOf = ({ id }: Row) => (id === 2 ? 'America/Chicago' : 'America/Denver');
    const [titles, denver, chicago] = await cellsOf(rows, { zoneOf });
    expect([titles, denver, chicago].map((row) => row?.[3])).toEqual([
      'at (local time)',
      new Date('2026-07-01T08:30:00Z'),
      new Date('2026-07-01T09:30:00Z'),
    ]);
  });

  it('has the offset where an hour comes twice, and text as it is where it is no instant', async () => {
    const [, ...rows] = await cellsOf(
      [
        { id: 1, at: '2026-11-01T07:30:00Z' },
        { id: 2, at: '2026-11-01T08:30:15Z' },
        { id: 3, at: 'soon' },
      ],
      { zone: 'America/Denver' },
    );
    expect(rows.map((row) => row[3])).toEqual(['2026-11-01 01:30 -06:00', '2026-11-01 01:30:15 -07:00', 'soon']);
  });

  it('has every row of every page, also beyond those that give the widths', async () => {
    const pages = [0, 1, 2].map((page) => Array.from({ length: 400 }, (_, at) => ({ id: page * 400 + at + 1 })));
    const { bytes, ends } = await made(pages, { columns: [column('id', 'id')] });
    const [sheet] = await readExcel(bytes);
    const wanted = ['id', ...Array.from({ length: 1200 }, (_, at) => String(at + 1))];
    expect(sheet?.data.map(([cell]) => cell)).toEqual(wanted);
    expect(ends).toEqual(['commit']);
  });

  it('has its header also without rows', async () => {
    expect(await cellsOf([])).toHaveLength(1);
  });

  it('is the same for the same rows', async () => {
    const [one, two] = [await made([[FULL]]), await made([[FULL]])];
    expect(one.bytes.equals(two.bytes)).toBe(true);
  });

  it('names its sheet as spreadsheets allow', async () => {
    const { bytes } = await made([[]], { many: 'a/b:c & a name that is longer than allowed' });
    expect(partOf(bytes, 'xl/workbook.xml')).toContain(
      '<sheet name="a b c &amp; a name that is longer t" sheetId="1" r:id="rId1"/>',
    );
  });

  it('keeps nothing when a cell is longer than a spreadsheet holds', async () => {
    const { ends } = await made([[{ id: 4, name: 'x'.repeat(32_768) }]]);
    expect(ends).toEqual([
      'abort',
      "Failure: A spreadsheet's cell holds 32,767 characters, and name of record 4 has more.",
    ]);
  });

  it('keeps nothing when the lists take more columns than a sheet has', async () => {
    const phones = Array.from({ length: 16_384 }, (_, id) => ({ id, number: '5' }));
    const { ends } = await made([[{ id: 1, phones }]], { columns: columnsOf(patientFields, ['id', 'phones']) });
    expect(ends).toEqual([
      'abort',
      'Failure: A spreadsheet holds 16,384 columns, and the lists of these records take 16,385.',
    ]);
  });

  it('keeps nothing when the run is interrupted while the file is made', async () => {
    expect((await made([[FULL]], { signal: AbortSignal.abort('enough') })).ends).toEqual(['abort', 'enough']);
  });

  it('leaves nothing behind in the folder of temporary files', async () => {
    expect(await readdir(folder())).toEqual([]);
  });
});

describe('the sheet', () => {
  it('freezes a bold header, has filter buttons over all rows, and no formula', async () => {
    const xml = await xmlOf([FULL, FULL]);
    expect(xml).not.toContain('<f>');
    expect(xml).toContain('<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>');
    expect(xml).toContain('<c r="A1" s="1" t="inlineStr">');
    expect(xml).toContain('<autoFilter ref="A1:H3"/>');
  });

  it('prints landscape, as wide as its columns, with the header on every page', async () => {
    const columns = columnsOf(patientFields, ['id', 'phones']);
    const { bytes } = await made([[{ id: 1, phones: [{ id: 1, number: '5' }] }]], { columns });
    for (const sheet of [1, 2]) {
      const xml = partOf(bytes, `xl/worksheets/sheet${sheet}.xml`);
      expect(xml).toContain('<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>');
      expect(xml).toContain('<pageSetup paperSize="1" orientation="landscape" fitToWidth="1" fitToHeight="0"/>');
    }
    const repeated = [...partOf(bytes, 'xl/workbook.xml').matchAll(/localSheetId="(\d)">([^<]*)</g)];
    expect(repeated.map(([, sheet, rows]) => [sheet, rows])).toEqual([
      ['0', "'patients'!$1:$1"],
      ['1', "'phones'!$1:$1"],
    ]);
  });

  it('has neither without a header', async () => {
    const xml = await xmlOf([FULL], { header: false });
    expect(xml).not.toMatch(/pane|autoFilter/);
    expect(xml).toContain('<row r="1"><c r="A1" s="5" t="inlineStr">');
  });

  it('has columns as wide as what is in them, within reason', async () => {
    const xml = await xmlOf([{ ...FULL, name: 'x'.repeat(300) }, { id: 1 }]);
    const widths = [...xml.matchAll(/<col [^>]*width="(\d+)"/g)].map((match) => Number(match[1]));
    expect(widths).toEqual([15, 60, 12, 18, 13, 10, 11, 16]);
  });

  it.each<[string, Column, unknown, string]>([
    ['a date', column('a', 'date'), '1900-03-01', '<c r="A2" s="2"><v>61</v></c>'],
    ['an instant', column('a', 'dateTime'), '2000-01-01T12:00:00.000Z', '<c r="A2" s="3"><v>36526.5</v></c>'],
    ['dollars', column('a', 'dollars'), -12.5, '<c r="A2" s="4"><v>-12.5</v></c>'],
    ['a whole number', column('a', 'integer'), 0, '<c r="A2"><v>0</v></c>'],
    ['no', column('a', 'yesNo'), false, '<c r="A2" t="b"><v>0</v></c>'],
  ])('has %s as its value', async (_name, only, value, cell) => {
    expect(await xmlOf([{ a: value }], { columns: [only] })).toContain(`<row r="2">${cell}</row>`);
  });

  it.each<[string, Column, unknown, string]>([
    ['a date before what spreadsheets count', column('a', 'date'), '1899-12-31', '1899-12-31'],
    ['the last date that spreadsheets count wrong', column('a', 'date'), '1900-02-28', '1900-02-28'],
    ['a number with more digits than a spreadsheet keeps', column('a', 'integer'), 10 ** 15, '1000000000000000'],
    ['such a number below zero', column('a', 'integer'), -(10 ** 15), '-1000000000000000'],
    ['a date that does not exist', column('a', 'date'), '2026-02-30', '2026-02-30'],
    ['text that looks like a date', column('a', 'text'), '2026-03-02', '2026-03-02'],
    ['a postal code', column('a', 'text'), '01234', '01234'],
    ['a phone', column('a', 'text'), '+1 801 555-0142', '+1 801 555-0142'],
    ['a number in a text field', column('a', 'text'), 12, '12'],
    ['an object', column('a', 'object'), { checkNumber: '12', bankNumber: null }, 'checkNumber 12'],
    ['markup', column('a', 'text'), '<b>&"', '&lt;b&gt;&amp;&quot;'],
  ])('has %s as text', async (_name, only, value, text) => {
    expect(await xmlOf([{ a: value }], { columns: [only] })).toContain(
      `<row r="2"><c r="A2" s="5" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c></row>`,
    );
  });

  it.each([null, undefined, ''])('has no cell for %j', async (value) => {
    expect(await xmlOf([{ a: value }], { columns: [column('a', 'text')] })).toContain('<row r="2"></row>');
  });

  it('knows the kinds of the catalog', async () => {
    const names = ['id', 'dateOfBirth', 'lastModified', 'preferredLocation', 'postalCode'];
    expect(columnsOf(patientFields, names).map(({ kind }) => kind)).toEqual([
      'id',
      'date',
      'dateTime',
      undefined,
      'text',
    ]);
  });

  it('refuses one row too many', () => {
    const sheet = new SheetWriter({ titles: [], header: true, widths: [] });
    sheet.begin();
    for (let row = 2; row <= 1_048_576; row++) sheet.row([]);
    expect(() => sheet.row([])).toThrow('A spreadsheet holds 1,048,575 rows, and there are more.');
    expect(MAX_SHEET_ROWS).toBe(1_048_576);
  });
});
