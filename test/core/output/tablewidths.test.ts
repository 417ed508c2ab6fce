import { describe, expect, it } from 'vitest';
import { tableWidths } from '../../../src/core/output/tablewidths.ts';

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
