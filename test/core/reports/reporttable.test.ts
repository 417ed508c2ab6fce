import { describe, expect, it } from 'vitest';
import { type ReportColumn, reportTable } from '../../../src/core/reports/reporttable.ts';

const ids: ReportColumn = { title: 'id', cells: ['7000000000001', '8'] };
const names: ReportColumn = {
  title: 'name',
  isTruncated: true,
  minWidth: 8,
  cells: ['Alexandra the Long', 'Bo\u001b'],
};
const money: ReportColumn = { title: 'balance', isRight: true, cells: ['1.00', '-20.00'] };
const spare: ReportColumn = { title: 'credits', isRight: true, rank: 1, cells: ['0.00', '0.00'] };

describe('reportTable', () => {
  it('aligns and neutralises', () => {
    expect(reportTable([ids, names, money], { width: undefined, header: true })).toEqual({
      text: [
        'id             name                balance',
        '─────────────  ──────────────────  ───────',
        '7000000000001  Alexandra the Long     1.00',
        '8              Bo\ufffd                  -20.00',
        '',
      ].join('\n'),
      hidden: [],
    });
  });

  it('leaves out ranked columns before it cuts a name below its least', () => {
    const { text, hidden } = reportTable([ids, names, spare, money], { width: 36, header: false });
    expect(hidden).toEqual(['credits']);
    expect(text).toBe('7000000000001  Alexandra t…     1.00\n8              Bo\ufffd            -20.00\n');
  });

  it('has a title and nothing else for no rows', () => {
    expect(reportTable([{ ...money, cells: [] }], { width: 80, header: true, indent: '  ' }).text).toBe(
      '  balance\n  ───────\n',
    );
  });

  it('never cuts ids or money, even where they do not fit', () => {
    const { text } = reportTable([ids, money], { width: 10, header: false });
    expect(text.split('\n')[0]).toBe('7000000000001     1.00');
  });
});
