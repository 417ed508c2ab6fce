import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import readExcel from 'read-excel-file/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { patientFields } from '../../../src/catalog/resources/patients.ts';
import { transactionFields } from '../../../src/catalog/resources/transactions.ts';
import { type Column, columnsOf } from '../../../src/core/output/columns.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';
import { writePages } from '../../../src/core/output/writepages.ts';
import { xlsxFormatter, xlsxSink } from '../../../src/core/output/xlsx.ts';
import { columnLetters, xmlText } from '../../../src/core/output/xlsxcells.ts';
import { MAX_SHEET_ROWS, SheetWriter } from '../../../src/core/output/xlsxsheet.ts';
import type { Row } from '../../../src/core/pages/page.ts';
import { RecordSpool } from '../../../src/core/stream/recordspool.ts';

const column = (name: string, kind?: string): Column => ({
  name,
  path: name.split('.'),
  isId: name.split('.').at(-1) === 'id',
  ...(kind !== undefined && { kind }),
});

const COLUMNS = [
  column('id', 'id'),
  column('name', 'text'),
  column('day', 'date'),
  column('at', 'dateTime'),
  column('paid', 'dollars'),
  column('count', 'integer'),
  column('active', 'yesNo'),
  column('location.id', 'id'),
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-xlsx-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Options {
  readonly columns?: readonly Column[];
  readonly header?: boolean;
  readonly one?: string;
  readonly many?: string;
  readonly zone?: string;
}

/** A workbook as it would stand in a file, and how often the sink was ended. */
async function workbook(
  pages: readonly (readonly Row[])[],
  { columns = COLUMNS, header = true, one = 'patient', many = 'patients', zone = 'UTC' }: Options = {},
): Promise<{ bytes: Buffer; ends: string[] }> {
  const chunks: Buffer[] = [];
  const ends: string[] = [];
  const end = (name: string) => async () => {
    ends.push(name);
  };
  const inner = {
    write: async (bytes: string | Uint8Array) => void chunks.push(Buffer.from(bytes as Uint8Array)),
    commit: end('commit'),
    abort: end('abort'),
  };
  async function* come() {
    for (const rows of pages) yield { rows };
  }
  const sink = xlsxSink(inner, {
    ...{ columns, header, one, many },
    clock: () => new LocalClock(zone),
    openSpool: () => RecordSpool.open(folder, () => 'spool'),
    signal: new AbortController().signal,
  });
  await writePages(come(), { formatter: xlsxFormatter(), sink }).catch((cause: unknown) => {
    ends.push(String(cause));
  });
  return { bytes: Buffer.concat(chunks), ends };
}

async function sheetXml(rows: readonly Row[], options?: Options): Promise<string> {
  const { bytes } = await workbook([rows], options);
  return partOf(bytes, 'xl/worksheets/sheet1.xml');
}

function partOf(bytes: Uint8Array, path: string): string {
  return strFromU8(unzipSync(bytes)[path] ?? new Uint8Array());
}

async function readBack(rows: readonly Row[], options?: Options): Promise<unknown[][]> {
  const { bytes } = await workbook([rows], options);
  const [sheet] = await readExcel(bytes);
  return (sheet?.data ?? []) as unknown[][];
}

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
    const [titles, cells] = await readBack([FULL]);
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
    const [titles, summer, winter] = await readBack(
      [
        { id: 1, at: '2026-07-01T14:30:00Z' },
        { id: 2, at: '2026-12-01T15:30:00.0000000+00:00' },
      ],
      { zone: 'America/Denver' },
    );
    expect(titles?.[3]).toBe('at (America/Denver)');
    expect([summer?.[3], winter?.[3]]).toEqual([new Date('2026-07-01T08:30:00Z'), new Date('2026-12-01T08:30:00Z')]);
  });

  it('has the offset where an hour comes twice, and text as it is where it is no instant', async () => {
    const [, ...rows] = await readBack(
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
    const { bytes, ends } = await workbook(pages, { columns: [column('id', 'id')] });
    const [sheet] = await readExcel(bytes);
    const wanted = ['id', ...Array.from({ length: 1200 }, (_, at) => String(at + 1))];
    expect(sheet?.data.map(([cell]) => cell)).toEqual(wanted);
    expect(ends).toEqual(['commit']);
  });

  it('has its header also without rows', async () => {
    expect(await readBack([])).toHaveLength(1);
  });

  it('is the same for the same rows', async () => {
    const [one, two] = [await workbook([[FULL]]), await workbook([[FULL]])];
    expect(one.bytes.equals(two.bytes)).toBe(true);
  });

  it('names its sheet as spreadsheets allow', async () => {
    const { bytes } = await workbook([[]], { many: 'a/b:c & a name that is longer than allowed' });
    expect(partOf(bytes, 'xl/workbook.xml')).toContain(
      '<sheet name="a b c &amp; a name that is longer t" sheetId="1" r:id="rId1"/>',
    );
  });

  it('keeps nothing when a cell is longer than a spreadsheet holds', async () => {
    const { ends } = await workbook([[{ id: 4, name: 'x'.repeat(32_768) }]]);
    expect(ends).toEqual([
      'abort',
      "Failure: A spreadsheet's cell holds 32,767 characters, and name of record 4 has more.",
    ]);
  });

  it('leaves nothing behind in the folder of temporary files', async () => {
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('lists within records', () => {
  const phone = (id: number, number: string) => ({ id, phoneType: 'HOME', number, extension: null, sequence: id });

  async function sheetsOf(pages: readonly (readonly Row[])[], options: Options): Promise<Record<string, unknown[][]>> {
    const { bytes } = await workbook(pages, options);
    const sheets = await readExcel(bytes);
    return Object.fromEntries(sheets.map(({ sheet, data }) => [sheet, data as unknown[][]]));
  }

  it('has phones side by side, and in a sheet of their own', async () => {
    const columns = columnsOf(patientFields, ['id', 'phones', 'lastName']);
    const pages = [
      [{ id: 7000000000114, phones: [], lastName: 'None' }],
      [{ id: 2, phones: [phone(1, '0155'), phone(2, '(555) 010-0142')], lastName: 'Two' }],
    ];
    expect(await sheetsOf(pages, { columns })).toEqual({
      patients: [
        ['id', 'phone', 'phone_2', 'lastName'],
        ['7000000000114', null, null, 'None'],
        ['2', '0155', '(555) 010-0142', 'Two'],
      ],
      phones: [
        ['patient.id', 'id', 'phoneType', 'number', 'extension', 'sequence'],
        ['2', '1', 'HOME', '0155', null, 1],
        ['2', '2', 'HOME', '(555) 010-0142', null, 2],
      ],
    });
  });

  it('has links side by side, the parts of an object, and of objects their number beside their sheet', async () => {
    const names = ['id', 'amount', 'transactionTags', 'reasonTags', 'patientPaymentBilling', 'distributions'];
    const columns = columnsOf(transactionFields, names);
    const patientPaymentBilling = { checkNumber: '0012', bankNumber: null, referenceNumber: 'R1' };
    const distributions = [{ chargeId: 9007199254740991, appliedAmount: 12.5, isActive: true }];
    const records = [
      {
        id: 1,
        amount: 0.1,
        transactionTags: { 1: { id: 71 }, 2: { id: 72 } },
        reasonTags: {},
        patientPaymentBilling,
        distributions,
      },
      { id: 2, amount: -3, transactionTags: {}, reasonTags: {}, patientPaymentBilling: null, distributions: [] },
    ];
    expect(await sheetsOf([records], { columns, one: 'transaction', many: 'transactions' })).toEqual({
      transactions: [
        [
          ...['id', 'amount', 'transactionTags', 'transactionTags_2', 'reasonTags'],
          ...['checkNumber', 'bankNumber', 'referenceNumber'].map((part) => `patientPaymentBilling.${part}`),
          'distributions',
        ],
        ['1', 0.1, '71', '72', null, '0012', null, 'R1', 1],
        ['2', -3, null, null, null, null, null, null, 0],
      ],
      distributions: [
        ['transaction.id', 'chargeId', 'appliedAmount', 'isActive'],
        ['1', '9007199254740991', 12.5, true],
      ],
    });
  });

  it('has no sheet for lists without entries', async () => {
    const columns = columnsOf(patientFields, ['id', 'phones']);
    expect(Object.keys(await sheetsOf([[{ id: 1, phones: [] }]], { columns }))).toEqual(['patients']);
  });

  it('gives every entry of many records to its record', async () => {
    const records = Array.from({ length: 1500 }, (_, id) => ({
      id: id + 1,
      phones: Array.from({ length: (id * 7) % 5 }, (_phone, at) => phone(at, `${id}-${at}`)),
    }));
    const pages = [records.slice(0, 600), records.slice(600)];
    const sheets = await sheetsOf(pages, { columns: columnsOf(patientFields, ['id', 'phones']) });
    const beside = sheets.patients?.slice(1).map(([id, ...phones]) => ({ id, numbers: phones.filter(Boolean) }));
    const below = records.map(({ id }) => {
      const own = sheets.phones?.slice(1).filter(([parent]) => parent === String(id));
      return { id: String(id), numbers: own?.map((row) => row[3]) };
    });
    const wanted = records.map(({ id, phones }) => ({ id: String(id), numbers: phones.map(({ number }) => number) }));
    expect(beside).toEqual(wanted);
    expect(below).toEqual(wanted);
  });
});

describe('columns that no catalog knows', () => {
  it('are what all their values are', async () => {
    const names = ['day', 'at', 'at_local', 'amount_cents', 'big_cents', 'share_cents', 'share', 'mixed'];
    const columns = names.map((name) => column(name, 'any'));
    const rows = [
      {
        day: '2026-03-02',
        at: '2026-03-02T14:30:00.000Z',
        at_local: '2026-03-02 07:30:00',
        amount_cents: -1250,
        big_cents: 9007199254740993n,
        share_cents: 5,
        share: 'x',
        mixed: '2026-03-02',
      },
      { day: null, at: null, at_local: null, amount_cents: 7, big_cents: 1n, share_cents: null, share: '', mixed: 4.5 },
    ];
    expect(await readBack(rows, { columns, zone: 'America/Denver' })).toEqual([
      ['day', 'at (America/Denver)', 'at_local', 'amount', 'big_cents', 'share_cents', 'share', 'mixed'],
      [
        new Date('2026-03-02T00:00:00Z'),
        new Date('2026-03-02T07:30:00Z'),
        new Date('2026-03-02T07:30:00Z'),
        -12.5,
        '9007199254740993',
        5,
        'x',
        '2026-03-02',
      ],
      [null, null, null, 0.07, 1, null, null, 4.5],
    ]);
  });
});

describe('the sheet', () => {
  it('freezes a bold header, has filter buttons over all rows, and no formula', async () => {
    const xml = await sheetXml([FULL, FULL]);
    expect(xml).not.toContain('<f>');
    expect(xml).toContain('<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>');
    expect(xml).toContain('<c r="A1" s="1" t="inlineStr">');
    expect(xml).toContain('<autoFilter ref="A1:H3"/>');
  });

  it('prints landscape, as wide as its columns, with the header on every page', async () => {
    const columns = columnsOf(patientFields, ['id', 'phones']);
    const { bytes } = await workbook([[{ id: 1, phones: [{ id: 1, number: '5' }] }]], { columns });
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
    const xml = await sheetXml([FULL], { header: false });
    expect(xml).not.toMatch(/pane|autoFilter/);
    expect(xml).toContain('<row r="1"><c r="A1" s="5" t="inlineStr">');
  });

  it('has columns as wide as what is in them, within reason', async () => {
    const xml = await sheetXml([{ ...FULL, name: 'x'.repeat(300) }, { id: 1 }]);
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
    expect(await sheetXml([{ a: value }], { columns: [only] })).toContain(`<row r="2">${cell}</row>`);
  });

  it.each<[string, Column, unknown, string]>([
    ['a date before what spreadsheets count', column('a', 'date'), '1899-12-31', '1899-12-31'],
    ['a date that does not exist', column('a', 'date'), '2026-02-30', '2026-02-30'],
    ['text that looks like a date', column('a', 'text'), '2026-03-02', '2026-03-02'],
    ['a postal code', column('a', 'text'), '01234', '01234'],
    ['a phone', column('a', 'text'), '+1 801 555-0142', '+1 801 555-0142'],
    ['a number in a text field', column('a', 'text'), 12, '12'],
    ['an object', column('a', 'object'), { checkNumber: '12', bankNumber: null }, 'checkNumber 12'],
    ['markup', column('a', 'text'), '<b>&"', '&lt;b&gt;&amp;&quot;'],
  ])('has %s as text', async (_name, only, value, text) => {
    expect(await sheetXml([{ a: value }], { columns: [only] })).toContain(
      `<row r="2"><c r="A2" s="5" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c></row>`,
    );
  });

  it.each([null, undefined, ''])('has no cell for %j', async (value) => {
    expect(await sheetXml([{ a: value }], { columns: [column('a', 'text')] })).toContain('<row r="2"></row>');
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

describe('xmlText', () => {
  it.each([
    ['control characters', 'a\u0000b\u001Bc\uFFFE', 'abc'],
    ['tabs and line feeds', 'a\tb\nc', 'a\tb\nc'],
    ['other line ends', 'a\r\nb\rc', 'a\nb\nc'],
    ['escapes of spreadsheets', '_x000D_ _x00_', '_x005F_x000D_ _x00_'],
  ])('makes %s harmless', (_name, text, xml) => expect(xmlText(text)).toBe(xml));
});

describe('columnLetters', () => {
  it.each([
    [0, 'A'],
    [25, 'Z'],
    [26, 'AA'],
    [51, 'AZ'],
    [701, 'ZZ'],
    [702, 'AAA'],
  ])('names column %i %s', (at, letters) => expect(columnLetters(at)).toBe(letters));
});
