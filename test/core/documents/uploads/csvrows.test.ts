import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  escapeFormula,
  parseCsv,
  unescapeFormula,
  withoutPreamble,
} from '../../../../src/core/documents/uploads/csvrows.ts';

describe('reading CSV', () => {
  it.each([
    [
      'rows and lines',
      'a,b\nc,d\n',
      [
        [1, ['a', 'b']],
        [2, ['c', 'd']],
      ],
    ],
    [
      'no line end at the end',
      'a,b\nc,d',
      [
        [1, ['a', 'b']],
        [2, ['c', 'd']],
      ],
    ],
    [
      'CRLF',
      'a,b\r\nc,d\r\n',
      [
        [1, ['a', 'b']],
        [2, ['c', 'd']],
      ],
    ],
    [
      'CR alone',
      'sep=;\ra;b\r"c\nd";"e\rf"\r',
      [
        [2, ['a', 'b']],
        [3, ['c\nd', 'e\rf']],
      ],
    ],
    [
      'empty cells',
      ',\na,',
      [
        [1, ['', '']],
        [2, ['a', '']],
      ],
    ],
    [
      'empty lines are skipped and counted',
      'a\n\n\r\nb\n',
      [
        [1, ['a']],
        [4, ['b']],
      ],
    ],
    ['quotes', '"a ""b"", c",d\n', [[1, ['a "b", c', 'd']]]],
    [
      'line breaks in quotes',
      '"a\nb\r\nc",d\ne,f\n',
      [
        [1, ['a\nb\r\nc', 'd']],
        [4, ['e', 'f']],
      ],
    ],
    ['spaces are kept', ' a , b\n', [[1, [' a ', ' b']]]],
    ['nothing', '', []],
  ] as const)('%s', (_, text, rows) => {
    expect(parseCsv(text)).toEqual(rows.map(([line, cells]) => ({ line, cells })));
  });

  it.each([
    ['a\n"b\nc', 'line 2: a quoted cell that starts here is not closed.'],
    ['a\n"b"c\n', 'line 2: text after a closing quote; double the quotes inside a cell.'],
    ['a\nb"c\n', 'line 2: a quote inside a cell that is not quoted.'],
  ])('%j is refused: %s', (text, message) => {
    expect(() => parseCsv(text)).toThrow(message);
  });

  it('gives back what a CSV writer wrote', () => {
    const cell = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', '\r\n', 'a', ' ') }));
    const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { maxLength: 8 });
    fc.assert(
      fc.property(table, fc.constantFrom('\n', '\r\n'), (rows, end) => {
        const text = stringify(rows, { record_delimiter: end, quoted_match: /[\r\n]/ });
        expect(parseCsv(text).map(({ cells }) => cells)).toEqual(rows);
      }),
    );
  });
});

describe('a first line of a spreadsheet or of PowerShell', () => {
  const rows = [
    { line: 2, cells: ['a', 'b,c'] },
    { line: 3, cells: ['d', 'e;f'] },
  ];
  it.each([
    ['sep=,', 'sep=,\na,"b,c"\nd,e;f\n'],
    ['sep=; with CRLF', 'sep=;\r\na;b,c\r\nd;"e;f"\r\n'],
    ['SEP= with a tab', 'SEP=\t\na\tb,c\nd\te;f\n'],
    ['sep=| in quotes', '"sep=|"\na|b,c\nd|e;f\n'],
    ['#TYPE', '#TYPE System.Management.Automation.PSCustomObject\r\n"a","b,c"\r\n"d","e;f"\r\n'],
  ])('%s is no row', (_, text) => {
    expect(parseCsv(text)).toEqual(rows);
  });

  it.each([
    ['of another column', 'sep,b\n', [['sep', 'b']]],
    ['below the first', 'a;b\nsep=;\n', [['a;b'], ['sep=;']]],
    ['that begins so', 'sep=;x\n', [['sep=;x']]],
  ])('a line %s is one', (_, text, cells) => {
    expect(parseCsv(text).map((row) => row.cells)).toEqual(cells);
  });
});

describe('a separator of any kind', () => {
  it.each([...'|]^-\\.*+?$()[{}/ \tx', '\u00a6', '\u2028'])('%j separates cells', (separator) => {
    const text = `sep=${separator}\na${separator}b,c\n"d${separator}"${separator}\n`;
    expect(parseCsv(text)).toEqual([
      { line: 2, cells: ['a', 'b,c'] },
      { line: 3, cells: [`d${separator}`, ''] },
    ]);
  });

  it.each<[string, string, string]>([
    ['a,b\nc', 'a,b\nc', ','],
    ['sep=;\na', 'a', ';'],
    ['sep=;', '', ';'],
    ['"sep=;" \t\r\na', 'a', ';'],
    ['#TYPE x y\na', 'a', ','],
    ['"#TYPE x y"\na', 'a', ','],
    ['#type x\na', 'a', ','],
    ['x sep=;\na', 'x sep=;\na', ','],
    ['#TYPEx\na', '#TYPEx\na', ','],
    ['sep=;;\na', 'sep=;;\na', ','],
    ['sep=\na', 'sep=\na', ','],
  ])('is named in the first line of %j', (text, rest, separator) => {
    expect(withoutPreamble(text)).toEqual({ rest, separator });
  });

  it('names its syntax errors', () => {
    expect(() => parseCsv('a"')).toThrow(expect.objectContaining({ name: 'CsvSyntax' }));
  });
});

describe('lines that end in CR alone', () => {
  it.each<[string, readonly (readonly [number, readonly string[]])[]]>([
    [
      'a,b\rc,d',
      [
        [1, ['a', 'b']],
        [2, ['c', 'd']],
      ],
    ],
    [
      'a,"b\nc"\rd,e\r',
      [
        [1, ['a', 'b\nc']],
        [3, ['d', 'e']],
      ],
    ],
    [
      'a,"b\rc"\rd,e\r',
      [
        [1, ['a', 'b\rc']],
        [2, ['d', 'e']],
      ],
    ],
    [
      'a\rb\nc,d\n',
      [
        [1, ['a\rb']],
        [2, ['c', 'd']],
      ],
    ],
    [
      'a\r\r\nb\n',
      [
        [1, ['a\r']],
        [2, ['b']],
      ],
    ],
  ])('%j', (text, rows) => {
    expect(parseCsv(text)).toEqual(rows.map(([line, cells]) => ({ line, cells })));
  });
});

describe('text that a spreadsheet would run', () => {
  it.each<[string, string]>([
    ['=1', "'=1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@a', "'@a"],
    ['\ta', "'\ta"],
    ['\ra', "'\ra"],
    ["'=1", "''=1"],
    ["''=1", "'''=1"],
    ["'a", "'a"],
    ['a=1', 'a=1'],
    [' =1', ' =1'],
    ['', ''],
    ["'", "'"],
  ])('%j is written as %j', (text, written) => {
    expect(escapeFormula(text)).toBe(written);
    expect(unescapeFormula(written)).toBe(text);
  });

  it.each(['=1', '@a', 'a', "'a", ''])('%j, which nobody has escaped, stays', (text) => {
    expect(unescapeFormula(text)).toBe(text);
  });
});
