import { describe, expect, it } from 'vitest';
import { agingReport } from '../../../src/core/reports/agingreport.ts';
import { agingHtml } from '../../../src/core/reports/htmlaging.ts';
import { escaped, horizontalBars, verticalBars } from '../../../src/core/reports/htmlpage.ts';
import { productionHtml } from '../../../src/core/reports/htmlproduction.ts';
import { AGING as aging, DAYS as days, LONG, location, MADE } from './htmlsamples.ts';

describe('the aging page', () => {
  const small = agingHtml(agingReport([location('5', 1, 3)]), { filter: '', limit: 2, made: MADE });

  it('has guarantors with the oldest money first, and totals of all', () => {
    const cells = [...small.matchAll(/<tr>(.*?)<\/tr>/g)].map((row) =>
      [...(row[1] ?? '').matchAll(/<td[^>]*>(.*?)<\/td>/g)].map((cell) => cell[1]),
    );
    const name = (id: number, last = '&lt;b&gt;&quot;Bold&quot; &amp; Co&lt;/b&gt;') => `${last}, First ${id}`;
    expect(cells).toEqual([
      [],
      ['7000000000003', name(7000000000003), '20.00', '0.00', '2.05', '1.00', '-0.50', '22.55'],
      ['7000000000002', name(7000000000002, LONG), '10.00', '0.00', '2.05', '1.00', '-0.50', '12.55'],
      ['Total', '', '30.00', '0.00', '6.15', '3.00', '-1.50', '37.65'],
    ]);
    expect(small).toContain('Guarantors, oldest money first (2 of 3; totals of all)');
  });

  it('ends with the check', () => {
    expect(small).toContain('Check: buckets 39.15 + credits -1.50 = balance 37.65; the page adds up.');
    expect(small).toContain('Made 2026-03-02 07:05 (America/Denver).');
  });

  it('has locations where there are several, and no guarantors for totals only', () => {
    expect(aging).toContain('<h2>Locations</h2>');
    expect(small).not.toContain('<h2>Locations</h2>');
    const report = agingReport([location('5', 1, 3)]);
    expect(agingHtml(report, { filter: '', limit: 0, made: MADE })).not.toContain('Guarantors, oldest');
  });

  it('can be made of nothing', () => {
    expect(agingHtml(agingReport([]), { filter: '', limit: undefined, made: MADE })).not.toContain('NaN');
  });
});

describe('the production page', () => {
  it('adds the days up', () => {
    const [first, second] = days.slice(1);
    const page = productionHtml(first && second ? [first, second] : [], { filter: '', made: MADE });
    expect(page).toContain('<p>2026-03-03 to 2026-03-04</p>');
    expect(page).toContain('<td>Total</td><td class="n">3</td><td class="n">3,703.68</td>');
    expect(page).toContain('Check: the 2 days add up to 3,703.68, from 3 appointments.');
  });
});

describe('charts', () => {
  const bar = (cents: number) => ({ label: 'a', cents, color: '#000' });

  it.each([
    ['the longest', [100, 50], ['440', '220']],
    ['less than nothing', [-100, 0], ['0', '0']],
    ['next to nothing', [1_000_000, 1], ['440', '1']],
  ])('have bars as long as the amounts: %s', (_name, amounts, widths) => {
    const svg = horizontalBars('Ages', amounts.map(bar));
    expect([...svg.matchAll(/width="([\d.]+)"[^>]*fill="#000"/g)].map((match) => match[1])).toEqual(widths);
  });

  it.each([
    [123_456, ['0.00', '1,000', '2,000']],
    [200_001, ['0.00', '2,000', '4,000']],
    [0, ['0', '1', '2']],
  ])('have a scale of whole dollars for %i cents', (cents, scale) => {
    const svg = verticalBars('Days', [bar(cents)]);
    const shown = [...svg.matchAll(/text-anchor="end">([^<]*)</g)].map((match) => match[1]);
    expect(shown).toEqual(scale.map((each) => each.replace('.00', '')));
  });
});

describe('escaped', () => {
  it('leaves no markup, no quotes and no control characters', () => {
    expect(escaped('<a href="x" title=\'y\'>&\u0000\u001b\u009b</a>\n')).toBe(
      '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;&lt;/a&gt;\n',
    );
  });
});
