import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  csvScanFormat,
  jsonScanFormat,
  ndjsonScanFormat,
  type ScanFormat,
} from '../../../src/core/jsonscan/scanformats.ts';
import type { Column } from '../../../src/core/output/columns.ts';
import { csvFormatter } from '../../../src/core/output/csv.ts';
import { jsonFormatter, ndjsonFormatter } from '../../../src/core/output/json.ts';
import type { Row } from '../../../src/core/pages/page.ts';
import { anyCharacter } from '../../support/characters.ts';

const PLAIN = { header: true, excel: false, escapeFormulas: true };
const EXCEL = { header: true, excel: true, escapeFormulas: false };
const columnsOf = (...names: string[]): Column[] =>
  names.map((name) => ({ name, path: name.split('.'), isId: name.endsWith('id') }));
const columns = columnsOf('id', 'name', 'amount', 'isActive', 'phones', 'location.id', 'gone');

const bodyOf = (records: string, rest = '"warnings":[],"errors":[],"meta":null') => `{"data":[${records}],${rest}}`;

/** The output of pages given as the text of their bodies. */
function written({ read, formatter }: ScanFormat, bodies: readonly string[], already = 0): string {
  const { begin, rows, end } = formatter(already);
  const parts = bodies.map((body) => rows(read(Buffer.from(body))?.data as Row[]));
  return begin() + Buffer.concat(parts).toString() + end();
}

function viaParser(records: string, shown = columns, options = PLAIN): string {
  const formatter = csvFormatter(shown, options);
  const text = formatter.begin() + formatter.rows(JSON.parse(`[${records}]`) as Row[]) + formatter.end();
  // As it is on the disk, where half a character cannot be.
  return Buffer.from(text).toString();
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('csvLines', () => {
  it('writes records as they stand', () => {
    const records =
      '{"id":7000000000001,"name":"Zoë","amount":-12.5,"isActive":true,"phones":[{"number":"555"}],"location":{"id":5}},' +
      '{"id":7000000000002,"name":null,"amount":0,"isActive":false,"phones":[],"location":null}';
    expect(written(csvScanFormat(columns, PLAIN), [bodyOf(records)])).toBe(
      'id,name,amount,isActive,phones,location.id,gone\n' +
        '7000000000001,Zoë,-12.5,true,"[{""number"":""555""}]",5,\n' +
        '7000000000002,,0,false,[],,\n',
    );
  });

  it('parses the first record and what is around them, and no other', () => {
    const records = Array.from({ length: 200 }, (_, index) => `{"id":${index + 1},"name":"Ann","location":{"id":5}}`);
    const parse = vi.spyOn(JSON, 'parse');
    written(csvScanFormat(columns, PLAIN), [bodyOf(records.join(',')), bodyOf(records.join(','))]);
    const parsed = parse.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
    expect(parsed).toBeLessThan(500);
  });

  it.each<readonly [string, string]>([
    ['a comma', '{"id":1,"name":"Smith, Ann"}'],
    ['a quote', '{"id":1,"name":"a \\"b\\" c"}'],
    ['a quote and a comma', '{"id":1,"name":"a, \\"b\\""}'],
    ['a line break', '{"id":1,"name":"a\\nb"}'],
    ['a carriage return at the start', '{"id":1,"name":"\\rb"}'],
    ['a tab at the start', '{"id":1,"name":"\\t=1"}'],
    ['a formula', '{"id":1,"name":"=1+1"}'],
    ['a formula with a comma', '{"id":1,"name":"=SUM(1,2)"}'],
    ['a formula with an escape', '{"id":1,"name":"@\\u0041"}'],
    ['a negative number, which is no formula', '{"id":1,"amount":-5}'],
    ['an empty text', '{"id":1,"name":""}'],
    ['a backslash', '{"id":1,"name":"a\\\\b"}'],
    ['characters beyond 16 bits', '{"id":1,"name":"𠮷 \\ud842\\udfb7"}'],
    ['half a character', '{"id":1,"name":"\\ud842"}'],
    ['a fraction with zeros', '{"id":1,"amount":12.50}'],
    ['an exponent', '{"id":1,"amount":1e21}'],
    ['minus zero', '{"id":1,"amount":-0}'],
    ['a number in a column of text', '{"id":1,"name":5}'],
    ['an object in a column of text', '{"id":1,"name":{"a":1}}'],
    ['an array of numbers', '{"id":1,"phones":[1,2]}'],
    ['an array of one number', '{"id":1,"phones":[1]}'],
    ['an array of text with commas', '{"id":1,"phones":["a,b","c\\"d"]}'],
    ['an object with names that count', '{"id":1,"phones":{"2":"b","1":"a"}}'],
    ['a link with more members', '{"id":1,"location":{"type":"LocationV1","id":5,"url":"/x,y"}}'],
    ['a link whose id comes twice', '{"id":1,"location":{"id":5,"id":6}}'],
    ['a link without an id', '{"id":1,"location":{}}'],
    ['a link with an id that is text', '{"id":1,"location":{"id":"5,6"}}'],
    ['a link with a name that has an escape', '{"id":1,"location":{"\\u0069d":6}}'],
    ['a link that is text', '{"id":1,"location":"5"}'],
    ['a link that is an array', '{"id":1,"location":[{"id":5}]}'],
    [
      'a link after one without an id',
      '{"id":1,"location":{"id":5}},{"id":2,"location":{"x":1}},{"id":3,"location":null}',
    ],
    ['a text after a link', '{"id":1,"location":{"id":5}},{"id":2,"location":"x"},{"id":3,"location":7}'],
    ['a link with an id that is no whole number', '{"id":1,"location":{"id":5.5}},{"id":2,"location":{"id":true}}'],
    ['a link with an id that is null', '{"id":1,"location":{"id":null}}'],
    ['a number that a zero begins with', '{"id":1,"amount":0}'],
    ['a text id', '{"id":"9007199254740993","name":"x"}'],
    ['a number that no number keeps', '{"id":1,"amount":9007199254740993}'],
    ['fields that come in another order', '{"id":1,"name":"a","amount":5},{"id":2,"amount":6,"name":"b"}'],
    [
      'records of many forms',
      Array.from({ length: 9 }, (_, at) => `{"id":${at + 1},"x${at}":1,"name":"a${at}"}`).join(','),
    ],
    ['fewer fields', '{"id":1,"name":"a","amount":5},{"id":2}'],
    ['more fields', '{"id":1},{"id":2,"name":"a","new":{"x":[null,{"y":"z"}]}}'],
    ['a field that comes twice', '{"id":1,"name":"a","name":"b"}'],
    ['fields that count', '{"7":1,"id":1,"3":2,"name":"a"}'],
    ['no fields', '{}'],
    ['more quotes than there was room for', `{"id":1,"phones":[${Array(60_000).fill('""')}],"location":{"id":5}}`],
    ['blanks', '{ "id": 1, "name": "a" }'],
  ])('writes what a parser would: %s', (_, records) => {
    expect(written(csvScanFormat(columns, PLAIN), [bodyOf(records)])).toBe(viaParser(records));
    expect(written(csvScanFormat(columns, EXCEL), [bodyOf(records)])).toBe(viaParser(records, columns, EXCEL));
  });

  it('writes what a parser would: every character before a digit, a letter and a formula', () => {
    const characters = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit));
    const records = characters
      .map((first, id) => JSON.stringify({ id, name: `${first}1`, amount: `${first}a`, phones: `${first}=1,2` }))
      .join(',');
    for (const options of [PLAIN, EXCEL]) {
      const text = written(csvScanFormat(columns, options), [bodyOf(records)]);
      expect(text === viaParser(records, columns, options)).toBe(true);
    }
  });

  it('does not show a blank line for a record without its only column', () => {
    const one = columnsOf('name');
    const records = '{"id":1,"name":null},{"id":2,"name":""},{"id":3,"name":"a"}';
    expect(written(csvScanFormat(one, PLAIN), [bodyOf(records)])).toBe('name\n""\n""\na\n');
  });

  it('has the columns in their own order, wherever the record has them', () => {
    const shown = columnsOf('location.id', 'name', 'id', 'location.name');
    const records = '{"id":1,"name":"a","location":{"name":"x,y","id":5}}';
    expect(written(csvScanFormat(shown, PLAIN), [bodyOf(records)])).toBe(
      'location.id,name,id,location.name\n5,a,1,"x,y"\n',
    );
  });

  it.each([
    ['columns of a whole and of its part', columnsOf('location', 'location.id')],
    ['a part of a part', columnsOf('id', 'location.place.name')],
  ])('writes what a parser would: %s', (_, shown) => {
    const records = '{"id":1,"location":{"id":5,"place":{"name":"x"}}}';
    expect(written(csvScanFormat(shown, PLAIN), [bodyOf(records)])).toBe(viaParser(records, shown));
  });

  it('keeps the ids as they were sent', () => {
    const ids = '7000000000001,"9007199254740993",5.5,-1,999999999999999,1000000000000000,null,true'.split(',');
    const envelope = csvScanFormat(columns, PLAIN).read(Buffer.from(bodyOf(ids.map((id) => `{"id":${id}}`).join(','))));
    expect(envelope?.data).toMatchObject(ids.map((id) => ({ id: JSON.parse(id) })));
  });

  it.each(['5', '"5"', 'null', '"a,b"', '{"id":1}'])('keeps the id %s where no column shows it', (id) => {
    const envelope = csvScanFormat(columnsOf('name'), PLAIN).read(Buffer.from(bodyOf(`{"name":"a","id":${id}}`)));
    expect(envelope?.data).toMatchObject([{ id: JSON.parse(id) }]);
  });

  it('ends a line of one empty cell as Excel expects it', () => {
    expect(written(csvScanFormat(columnsOf('name'), { ...EXCEL, header: false }), [bodyOf('{"id":1,"name":""}')])).toBe(
      '\uFEFF""\r\n',
    );
  });

  it('writes what stands at the very end of a body', () => {
    const text = 'a'.repeat(21);
    const body = Buffer.from(`{"warnings":[],"data":[{"name":"${text}"}]}`);
    expect(written(csvScanFormat(columnsOf('name'), PLAIN), [body.toString()])).toBe(`name\n${text}\n`);
    expect(written(csvScanFormat(columnsOf('name'), PLAIN), [`{"data":[{"name":"${text}"}]}`])).toBe(`name\n${text}\n`);
  });

  it('reads what is around the records', () => {
    const rest =
      '"warnings":[{"title":"Old","description":"é","source":"page"}],"errors":[],"meta":{"pagination":{"lastId":1}}';
    expect(csvScanFormat(columns, PLAIN).read(Buffer.from(bodyOf('{"id":1}', rest)))).toMatchObject({
      data: [{ id: 1 }],
      warnings: [{ title: 'Old', description: 'é', source: 'page' }],
      meta: { pagination: { lastId: 1 } },
    });
  });

  it.each([
    ['a body that is cut off', '{"data":[{"id":1}'],
    ['a record that is cut off', '{"data":[{"id":1,"na'],
    ['an escape that is none', bodyOf('{"id":1,"name":"\\x"}')],
    ['an escape that is none, in a column that is not shown', bodyOf('{"id":1,"x":"\\x"}')],
    ['a number that is none', bodyOf('{"id":1},{"id":2-}')],
    ['no JSON', '<html>'],
    ['another shape', '{"records":[]}'],
  ])('does not read %s', (_, body) => {
    expect(csvScanFormat(columns, PLAIN).read(Buffer.from(body))).toBeUndefined();
  });

  it.each([
    ['a failure', '{"data":null,"errors":[{"code":"a","description":"b"}]}', null],
    ['data that is no list', '{"data":{"id":1}}', { id: 1 }],
    ['a list of something else', '{"data":[1,2]}', [1, 2]],
    ['no records', '{"data":[]}', []],
  ])('reads %s as any envelope', (_, body, data) => {
    expect(csvScanFormat(columns, PLAIN).read(Buffer.from(body))?.data).toEqual(data);
  });

  it('does not mix up the pages it has read', () => {
    const { read, formatter } = csvScanFormat(columnsOf('id'), PLAIN);
    const pages = ['{"id":1},{"id":2}', '{"id":3}'].map((records) => read(Buffer.from(bodyOf(records)))?.data as Row[]);
    const [first, second] = pages as [Row[], Row[]];
    const { rows } = formatter(0);
    expect(Buffer.from(rows([...second, ...first.slice(1)])).toString()).toBe('3\n2\n');
    expect(Buffer.from(rows(first)).toString()).toBe('1\n2\n');
  });
});

describe('jsonLines and ndjsonLines', () => {
  it.each([
    ['no page', [], '[]\n'],
    ['an empty page', [''], '[]\n'],
    [
      'records',
      ['{"id":1,"a":"x"},{"id":2,"a":null}', '', '{"id":3,"a":"\\u0041"}'],
      '[\n{"id":1,"a":"x"},\n{"id":2,"a":null},\n{"id":3,"a":"A"}\n]\n',
    ],
  ])('write %s as one array', (_, pages, text) => {
    expect(
      written(
        jsonScanFormat(),
        pages.map((page) => bodyOf(page)),
      ),
    ).toBe(text);
  });

  it('goes on behind records that stand there already', () => {
    expect(written(jsonScanFormat(), [bodyOf('{"id":3}')], 2)).toBe('[,\n{"id":3}\n]\n');
  });
});

describe('lines of whatever the server sends', () => {
  const value = fc.jsonValue({ maxDepth: 2 });
  const text = fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('=1', 'a,b', '"', '\n', 'Zoë', ''));
  const amount = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null));
  const link = fc.oneof(fc.constant(null), fc.record({ id: fc.nat() }), fc.record({ type: text, id: fc.nat() }), value);
  const record = fc.record(
    { id: fc.nat(), name: text, amount, isActive: fc.boolean(), phones: fc.array(value), location: link, other: value },
    { requiredKeys: ['id'] },
  );
  const records = fc.array(record, { maxLength: 8 });

  it('have the columns in any order, and any of them', () => {
    const shown = fc.shuffledSubarray(columns, { minLength: 1 });
    fc.assert(
      fc.property(records, shown, fc.boolean(), (sent, some, isExcel) => {
        const options = isExcel ? EXCEL : PLAIN;
        const texts = sent.map((each) => JSON.stringify(each));
        expect(written(csvScanFormat(some, options), [bodyOf(texts.join(','))])).toBe(
          viaParser(texts.join(','), some, options),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('are those of the formatters that are given parsed records, to the byte', () => {
    const [csv, ndjson, json] = [csvScanFormat(columns, PLAIN), ndjsonScanFormat(), jsonScanFormat()];
    fc.assert(
      fc.property(records, (sent) => {
        const body = JSON.stringify({ data: sent, warnings: [], errors: [], meta: null });
        const rows = JSON.parse(JSON.stringify(sent)) as Row[];
        const formatted = (
          formatter: { begin: () => string; rows: (rows: readonly Row[]) => string; end: () => string },
          of = rows,
        ) => formatter.begin() + formatter.rows(of) + formatter.end();
        expect(written(csv, [body])).toBe(Buffer.from(formatted(csvFormatter(columns, PLAIN))).toString());
        expect(written(ndjson, [body])).toBe(formatted(ndjsonFormatter()));
        expect(written(json, [body])).toBe(formatted(jsonFormatter()));
      }),
      { numRuns: 200 },
    );
  });
});
