import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Column } from '../../../src/core/output/columns.ts';
import { csvFormatter, neutralised } from '../../../src/core/output/csv.ts';
import { anyCharacter } from '../../support/characters.ts';

const PLAIN = { header: true, excel: false, escapeFormulas: true };
const columns: Column[] = ['id', 'a', 'b.id'].map((name) => ({
  name,
  path: name.split('.'),
  isId: name.endsWith('id'),
}));
const one: Column[] = [{ name: 'a', path: ['a'], isId: false }];

function csv(rows: readonly Record<string, unknown>[], options = PLAIN, shown = columns): string {
  const formatter = csvFormatter(shown, options);
  return formatter.begin() + formatter.rows(rows) + formatter.end();
}

describe('csvFormatter', () => {
  it('has a header for no rows', () => {
    expect(csv([])).toBe('id,a,b.id\n');
  });

  it('has a line for each record', () => {
    const rows = [
      { id: 7000000000114, a: 'x', b: { id: 5 } },
      { id: 2, a: null, b: null },
    ];
    expect(csv(rows)).toBe('id,a,b.id\n7000000000114,x,5\n2,,\n');
  });

  it('quotes names of columns where they need it, as a query may give them', () => {
    const names = ['count(*)', "coalesce(a, 'x')", 'the "sum"', 'two\nlines'];
    const shown = names.map((name) => ({ name, path: [name], isId: false }));
    const row = Object.fromEntries(names.map((name, at) => [name, at]));
    expect(csv([row], PLAIN, shown)).toBe(`count(*),"coalesce(a, 'x')","the ""sum""","two\nlines"\n0,1,2,3\n`);
  });

  it('goes on without a header', () => {
    const formatter = csvFormatter(columns, PLAIN);
    formatter.begin();
    formatter.rows([{ id: 1 }]);
    expect(formatter.rows([{ id: 2 }])).toBe('2,,\n');
  });

  it('leaves the header out when asked', () => {
    expect(csv([{ id: 1 }], { ...PLAIN, header: false })).toBe('1,,\n');
  });

  it('is made for Excel when asked', () => {
    expect(csv([{ id: 1, a: 'x\ny' }], { ...PLAIN, excel: true })).toBe('\uFEFFid,a,b.id\r\n1,"x\ny",\r\n');
  });

  it.each<[string, unknown, string]>([
    ['plain text', 'Ann', 'Ann'],
    ['a comma', 'a,b', '"a,b"'],
    ['a quote', 'a"b', '"a""b"'],
    ['a line feed', 'a\nb', '"a\nb"'],
    ['a lone carriage return', 'a\rb', '"a\rb"'],
    ['CRLF', 'a\r\nb', '"a\r\nb"'],
    ['blanks at the ends', ' a ', ' a '],
    ['empty text', '', ''],
    ['null', null, ''],
    ['nothing', undefined, ''],
    ['zero', 0, '0'],
    ['false', false, 'false'],
    ['a negative number', -12.5, '-12.5'],
    ['an empty list', [], '[]'],
    ['a list', ['x', 1], '"[""x"",1]"'],
    ['an object', { f: null }, '"{""f"":null}"'],
    ['a formula', '=1+1', "'=1+1"],
    ['a formula with a comma', '=SUM(A1,B1)', `"'=SUM(A1,B1)"`],
    ['an at sign', '@x', "'@x"],
    ['a plus', '+1 555-0100', "'+1 555-0100"],
    ['a minus', '-x', "'-x"],
    ['a tab', '\tx', "'\tx"],
    ['a carriage return in front', '\rx', `"'\rx"`],
    ['a line feed in front', '\n=1', `"'\n=1"`],
    ['a formula of full width', '＝1+1', "'＝1+1"],
    ['a formula behind blanks', ' \u3000=1', "' \u3000=1"],
    ['a formula behind a byte order mark', '\uFEFF=1', "'\uFEFF=1"],
    ['blanks before something else', ' \u3000a=1', ' \u3000a=1'],
    ['other signs of full width', '（a）', '（a）'],
    ['a sign inside', 'a=b', 'a=b'],
    ['wide characters', '王', '王'],
  ])('writes %s', (_name, value, cell) => {
    expect(csv([{ a: value, id: 1 }])).toBe(`id,a,b.id\n1,${cell},\n`);
  });

  it('keeps formulas when asked', () => {
    expect(csv([{ id: 1, a: '=1+1' }], { ...PLAIN, escapeFormulas: false })).toBe('id,a,b.id\n1,=1+1,\n');
  });

  it('has no blank line for a record of one empty cell', () => {
    expect(csv([{ a: null }, { a: 'x' }], PLAIN, one)).toBe('a\n""\nx\n');
  });

  it('reads back as it was written', () => {
    const text = fc.string({ unit: anyCharacter });
    fc.assert(
      fc.property(fc.array(fc.record({ id: fc.nat(), a: text }), { minLength: 1 }), fc.boolean(), (rows, excel) => {
        const written = csv(rows, { header: false, excel, escapeFormulas: false }).replace(/^\uFEFF/, '');
        expect(readCsv(written, excel ? '\r\n' : '\n')).toEqual(rows.map(({ id, a }) => [String(id), a, '']));
      }),
    );
  });
});

describe('neutralised', () => {
  const signs = fc.constantFrom(...'=+-@＝＋－＠ \t\r\n\u00a0\u3000\uFEFFa王');
  const anyText = fc.oneof(fc.string({ unit: anyCharacter }), fc.string({ unit: signs }));

  it('never begins as a formula does, and changes nothing else', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const seen = neutralised(text);
        expect('=+-@\t\r\n＝＋－＠').not.toContain([...seen][0] ?? 'none');
        expect('=+-@＝＋－＠').not.toContain([...seen.replace(/^[\s\uFEFF]+/, '')][0] ?? 'none');
        expect(neutralised(text).endsWith(text)).toBe(true);
      }),
    );
  });
});

/** RFC 4180 read the slow way. */
function readCsv(text: string, lineEnd: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  for (let at = 0; at < text.length; ) {
    if (cell === '' && text[at] === '"') {
      for (at++; ; at++) {
        if (text[at] === '"' && text[at + 1] !== '"') break;
        if (text[at] === '"') at++;
        cell += text[at];
      }
      at++;
    } else if (text[at] === ',') {
      row.push(cell);
      cell = '';
      at++;
    } else if (text.startsWith(lineEnd, at)) {
      rows.push([...row, cell]);
      row = [];
      cell = '';
      at += lineEnd.length;
    } else {
      cell += text[at++];
    }
  }
  return rows;
}
