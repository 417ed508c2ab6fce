import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Column } from '../../../src/core/output/columns.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';
import { COLOURED } from '../../../src/core/output/style.ts';
import { type TableOptions, tableFormatter, tableWidths } from '../../../src/core/output/table.ts';
import { displayWidth } from '../../../src/core/output/terminaltext.ts';

const column = (name: string): Column => ({ name, path: name.split('.'), isId: name.endsWith('id') });
const columns = ['id', 'lastName', 'amount', 'location.id'].map(column);

function table(pages: readonly (readonly Record<string, unknown>[])[], options: Partial<TableOptions> = {}): string[] {
  const formatter = tableFormatter(columns, { width: undefined, header: true, ...options });
  const text = formatter.begin() + pages.map((page) => formatter.rows(page)).join('') + formatter.end();
  return text.split('\n').slice(0, -1);
}

const ann = { id: 7000000000114, lastName: '王小明', amount: 12.5, location: { id: 5 } };
const bob = { id: 7, lastName: 'O\u001bNeil', amount: -100, location: null };

describe('tableFormatter', () => {
  it('lines values up, numbers at the right, without control characters', () => {
    expect(table([[ann, bob]])).toEqual([
      'id             lastName  amount  location.id',
      '─────────────  ────────  ──────  ───────────',
      '7000000000114  王小明      12.5  5',
      '7              O\ufffdNeil      -100',
    ]);
  });

  it('cuts no date on a narrow terminal, as it cuts text', () => {
    const shown = [
      { name: 'day', path: ['day'], isId: false, isWhole: true },
      { name: 'note', path: ['note'], isId: false },
    ];
    const formatter = tableFormatter(shown, { width: 24, header: false });
    const text = formatter.rows([{ day: '2026-03-10, all day long', note: 'Wants to be called in the evening' }]);
    expect(text).toContain('2026-03-10, all day long');
    expect(text).not.toContain('evening');
  });

  it('has a header that stands out and bands over all pages where there are colours, and escapes of its own only', () => {
    const pages = [[ann], [bob, ann], [bob]];
    const [header, rule, ...lines] = table(pages);
    const bold = (text = '') => `\u001b[1m${text}\u001b[22m`;
    const faint = (text = '') => `\u001b[2m${text}\u001b[22m`;
    const [first, second, third, fourth] = lines;
    const expected = [bold(header), faint(rule), first, faint(second), third, faint(fourth)];
    expect(table(pages, { style: COLOURED })).toEqual(expected);
  });

  it('shows values as people read them', () => {
    const kinds: Column[] = [
      { ...column('amount'), kind: 'dollars', isWhole: true },
      { ...column('start'), kind: 'dateTime', isWhole: true },
      { ...column('tags'), kind: 'list' },
    ];
    const rows = [
      { amount: 1000, start: '2026-03-02T15:00:00.000Z', tags: ['a', 'b'] },
      { amount: 9.5, start: '2026-03-02T15:00:30.000Z', tags: [] },
    ];
    const formatter = tableFormatter(kinds, {
      width: 40,
      header: false,
      clockOf: () => new LocalClock('America/Denver'),
    });
    expect(formatter.rows(rows) + formatter.end()).toBe(
      '1,000.00  2026-03-02 08:00  a, b\n    9.50  2026-03-02 08:00\n',
    );
  });

  it('keeps the widths of the first page and cuts what is longer, but no id', () => {
    const long = { id: 70000000001149, lastName: 'Example-Longname', amount: 1, location: { id: 6 } };
    expect(table([[ann], [long]], { width: 80 }).slice(2)).toEqual([
      '7000000000114  王小明      12.5  5',
      '70000000001149  Example…       1  6',
    ]);
  });

  it('takes the widths from the whole page, also where it comes in slices', () => {
    const long = { id: 2, lastName: 'Example-Longname', amount: 1, location: { id: 6 } };
    const formatter = tableFormatter(columns, { width: 80, header: false });
    formatter.page?.([bob, long]);
    expect([formatter.rows([bob]), formatter.rows([long])]).toEqual([
      '7   O\ufffdNeil              -100\n',
      '2   Example-Longname       1  6\n',
    ]);
  });

  it('cuts nothing where there is no terminal', () => {
    const long = { id: 2, lastName: 'Example-Longname', amount: 1, location: null };
    expect(table([[ann], [long]]).at(-1)).toBe('2              Example-Longname       1');
  });

  it('has only a header for nothing', () => {
    expect(table([])).toEqual(['id  lastName  amount  location.id', '──  ────────  ──────  ───────────']);
    expect(table([], { header: false })).toEqual([]);
  });

  it('tells what did not fit', () => {
    const hidden: string[] = [];
    const lines = table([[ann]], { width: 25, onHidden: (names) => hidden.push(...names) });
    expect(lines[0]).toBe('id             lastName');
    expect(hidden).toEqual(['amount', 'location.id']);
  });

  it('is never wider than the terminal', () => {
    const row = fc.record({
      id: fc.nat(),
      lastName: fc.string({ unit: 'grapheme' }),
      amount: fc.double({ noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 5 }), fc.integer({ min: 12, max: 60 }), (rows, width) => {
        for (const line of table([rows], { width })) expect(displayWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});

const id = (header: number, cells: number) => ({ header, cells, isId: true });
const text = (header: number, cells: number) => ({ header, cells, isId: false });

describe('tableWidths', () => {
  it.each([
    ['what each needs', [id(2, 13), text(8, 5)], 80, [13, 8]],
    ['exactly what is there', [id(2, 13), text(8, 5)], 23, [13, 8]],
    ['headers give way first', [id(2, 13), text(13, 8), text(8, 12)], 37, [13, 8, 12]],
    ['then the widest cells', [id(2, 13), text(4, 30), text(4, 10)], 40, [13, 13, 10]],
    ['several alike', [id(2, 13), text(4, 30), text(4, 30)], 41, [13, 12, 12]],
    ['ids keep their cells', [id(20, 13), text(4, 30)], 27, [13, 12]],
    ['what does not fit is left out from the end', [id(2, 13), text(4, 30), text(4, 30)], 25, [13, 10]],
    ['also before a text is cut below ten columns', [id(2, 13), text(4, 30)], 24, [13]],
    ['but not for a text that has fewer', [id(2, 13), text(20, 6)], 21, [13, 6]],
    ['the first is always there', [id(2, 13), text(4, 30)], 5, [13]],
    ['the first is cut when it is text', [text(4, 30)], 10, [10]],
    ['everything without a terminal', [id(2, 13), text(4, 900)], Number.POSITIVE_INFINITY, [13, 900]],
  ])('%s', (_name, needs, available, widths) => {
    expect(tableWidths(needs, available)).toEqual(widths);
  });
});
