import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { COLOURED } from '../../../src/core/output/style.ts';
import { daysFrom, nameOfDay, productionDay, productionTable } from '../../../src/core/reports/production.ts';

describe('daysFrom', () => {
  it.each([
    ['2026-02-27', 3, ['2026-02-27', '2026-02-28', '2026-03-01']],
    ['2028-02-28', 2, ['2028-02-28', '2028-02-29']],
    ['2026-12-31', 2, ['2026-12-31', '2027-01-01']],
    ['0099-12-31', 2, ['0099-12-31', '0100-01-01']],
    ['2026-03-08', 1, ['2026-03-08']],
  ])('from %s, %d of them', (from, count, days) => {
    expect(daysFrom(from, count)).toEqual(days);
  });
});

describe('productionDay', () => {
  it('adds cents', () => {
    const amounts = [14_800, '5', null, -300, '-205', '0', undefined];
    const items = amounts.map((scheduledAmount) => ({ scheduledAmount }));
    expect(productionDay('2026-03-02', items)).toEqual({ day: '2026-03-02', appointments: 7, cents: 14_300 });
  });

  it.each([[12.5], ['12.5'], ['1e2'], [''], [2 ** 60]])('refuses %s', (scheduledAmount) => {
    expect(productionDay('2026-03-02', [{ scheduledAmount }])).toBeUndefined();
  });
});

describe('productionTable', () => {
  const days = [
    { day: '2026-03-02', appointments: 12, cents: 400_000 },
    { day: '2026-03-03', appointments: 0, cents: 0 },
    { day: '2026-03-04', appointments: 1, cents: 100_050 },
  ];

  it('shows dollars, a total, and bars on a terminal only', () => {
    const lines = [
      'day             appointments  scheduled (USD)',
      '──────────────  ────────────  ───────────────',
      '2026-03-02 Mon            12         4,000.00',
      '2026-03-03 Tue             0             0.00',
      '2026-03-04 Wed             1         1,000.50',
      'Total                     13         5,000.50',
    ];
    expect(productionTable(days, { width: undefined, header: true })).toBe(`${lines.join('\n')}\n`);
    expect(productionTable(days, { width: 75, header: false }).split('\n')).toEqual([
      `${lines[2]}  ${'█'.repeat(20)}`,
      lines[3],
      `${lines[4]}  ${'█'.repeat(5)}`,
      lines[5],
      '',
    ]);
  });

  it('has a total that stands out where there are colours', () => {
    const look = { width: 75, header: true };
    const text = productionTable(days, { ...look, style: COLOURED });
    expect(stripVTControlCharacters(text)).toBe(productionTable(days, look));
    expect(text.split('\n').at(-2)).toBe(`\u001b[1m${'Total                     13         5,000.50'}\u001b[22m`);
  });

  it.each([
    ['2026-03-01', 'Sun'],
    ['2000-02-29', 'Tue'],
    ['2026-11-21', 'Sat'],
  ])('knows that %s is a %s', (day, name) => {
    expect(nameOfDay(day)).toBe(name);
  });
});
