import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Column } from '../../../src/core/output/columns.ts';
import { tsvFormatter } from '../../../src/core/output/tsv.ts';
import { anyCharacter } from '../../support/characters.ts';

const PLAIN = { header: true, escapeFormulas: true };
const columns: Column[] = ['id', 'a', 'b.id'].map((name) => ({
  name,
  path: name.split('.'),
  isId: name.endsWith('id'),
}));

function tsv(rows: readonly Record<string, unknown>[], options = PLAIN, shown = columns): string {
  const formatter = tsvFormatter(shown, options);
  return formatter.begin() + formatter.rows(rows) + formatter.end();
}

/** Reads it as its definition says: lines, cells between tabs, then the four escapes. */
function readTsv(text: string): string[][] {
  const meanings: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\' };
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) =>
      line.split('\t').map((cell) => {
        let value = '';
        for (let at = 0; at < cell.length; at++) {
          value += cell[at] === '\\' ? meanings[cell[++at] ?? ''] : cell[at];
        }
        return value;
      }),
    );
}

describe('tsvFormatter', () => {
  it('has a header for no rows, and none when asked', () => {
    expect(tsv([])).toBe('id\ta\tb.id\n');
    expect(tsv([{ id: 1 }], { ...PLAIN, header: false })).toBe('1\t\t\n');
  });

  it.each<[string, unknown, string]>([
    ['plain text', 'Ann', 'Ann'],
    ['commas and quotes as they are', 'a,"b"', 'a,"b"'],
    ['a tab', 'a\tb', 'a\\tb'],
    ['a line feed', 'a\nb', 'a\\nb'],
    ['a carriage return', 'a\rb', 'a\\rb'],
    ['a backslash', 'C:\\new', 'C:\\\\new'],
    ['null', null, ''],
    ['false', false, 'false'],
    ['a negative number', -12.5, '-12.5'],
    ['an id beyond 2^53', '7000000000000000114', '7000000000000000114'],
    ['an object', { f: 'x\ny' }, '{"f":"x\\\\ny"}'],
    ['a formula', '=1+1', "'=1+1"],
    ['a formula of full width', '＠x', "'＠x"],
    ['a line feed in front', '\n=1', "'\\n=1"],
    ['a tab that a spreadsheet skips before a formula', '\t=1', "'\\t=1"],
    ['other line separators as they are', 'a\u2028b\u0085', 'a\u2028b\u0085'],
  ])('writes %s', (_name, value, cell) => {
    expect(tsv([{ a: value, id: 1 }])).toBe(`id\ta\tb.id\n1\t${cell}\t\n`);
  });

  it('keeps formulas when asked', () => {
    expect(tsv([{ id: 1, a: '=1+1' }], { ...PLAIN, escapeFormulas: false })).toBe('id\ta\tb.id\n1\t=1+1\t\n');
  });

  it('reads back as it was written, a record a line whatever is in it', () => {
    const text = fc.oneof(fc.string({ unit: anyCharacter }), fc.stringMatching(/^[\t\n\r\\tnr"',=]*$/));
    fc.assert(
      fc.property(fc.array(fc.record({ id: fc.nat(), a: text }), { minLength: 1 }), (rows) => {
        const written = tsv(rows, { header: false, escapeFormulas: false });
        expect(readTsv(written)).toEqual(rows.map(({ id, a }) => [String(id), a, '']));
      }),
    );
  });

  it('keeps a record of one empty cell', () => {
    expect(readTsv(tsv([{ a: null }, { a: 'x' }], PLAIN, columns.slice(1, 2)))).toEqual([['a'], [''], ['x']]);
  });
});
