import { describe, expect, it } from 'vitest';
import { officeHtml } from '../../../src/core/office/html.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';
import { added, moneyOf, readGuarantor } from '../../../src/core/reports/agingmoney.ts';
import type { LocationAging } from '../../../src/core/reports/agingread.ts';
import { agingReport } from '../../../src/core/reports/agingreport.ts';
import { agingHtml } from '../../../src/core/reports/htmlaging.ts';
import { escaped, horizontalBars, verticalBars } from '../../../src/core/reports/htmlpage.ts';
import { productionHtml } from '../../../src/core/reports/htmlproduction.ts';
import { daysFrom } from '../../../src/core/reports/production.ts';
import { browserTest, sharedBrowser } from '../../support/browser.ts';
import { COLLECTIONS } from '../office/samples.ts';
import { record } from './agingsamples.ts';

const MADE = { at: Date.UTC(2026, 2, 2, 14, 5), clock: new LocalClock('America/Denver') };
const LONG = 'Featherstonehaugh-Montgomery-of-the-longest-name-there-is';

function location(name: string, from: number, count: number): LocationAging {
  const records = Array.from({ length: count }, (_, at) => ({
    ...record({
      id: String(7000000000000 + from + at),
      buckets: [
        [100, 0, 0],
        [200, 5, 0],
        [0, 0, 0],
        [at * 1000, 0, 0],
      ],
      credits: -50,
    }),
    lastName: at % 2 === 0 ? '<b>"Bold" & Co</b>' : LONG,
  }));
  const guarantors = records.map(readGuarantor);
  const money = moneyOf(added(guarantors.map(({ amounts }) => amounts)));
  return {
    location: name,
    guarantors,
    money,
    stated: {},
    pages: 1,
    problems: [],
    fractions: 0,
    roundings: 0,
    changed: false,
  };
}

const aging = agingHtml(agingReport([location('5', 1, 30), location('6', 20, 30)]), {
  filter: "balance>100'<",
  limit: undefined,
  made: MADE,
});
const days = daysFrom('2026-03-02', 31).map((day, at) => ({ day, appointments: at, cents: at * 123_456 }));
const collections = officeHtml(COLLECTIONS);
const production = productionHtml(days, { filter: 'location.id==5', made: MADE });

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

const open = sharedBrowser();

describe('the pages in a browser', () => {
  for (const [name, html, media, width] of [
    ['aging', aging, 'screen', 1000],
    ['aging', aging, 'screen', 390],
    // Letter without its margins.
    ['aging', aging, 'print', 700],
    ['production', production, 'screen', 1000],
    ['production', production, 'screen', 390],
    ['production', production, 'print', 700],
    ['collections', collections, 'screen', 1000],
    ['collections', collections, 'screen', 390],
    // Landscape; a wider table is printed smaller, down to half its size.
    ['collections', collections, 'print', 1440],
  ] as const) {
    browserTest(`${name}: asks for nothing, complains of nothing and fits into ${width} px (${media})`, async () => {
      const page = await open(width);
      const seen: string[] = [];
      page.on('request', (request) => seen.push(request.url()));
      page.on('console', (message) => seen.push(message.text()));
      page.on('pageerror', (error) => seen.push(error.message));
      await page.emulateMedia({ media });
      await page.setContent(html, { waitUntil: 'load' });
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      const styled = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      const [bold, charts] = [await page.locator('b').count(), await page.getByRole('img').count()];
      await page.close();
      expect(seen.filter((each) => !each.startsWith('data:'))).toEqual([]);
      expect(wide).toBeLessThanOrEqual(width);
      expect(styled).toBe('rgb(255, 255, 255)');
      expect({ bold, charts }).toEqual({ bold: 0, charts: 1 });
    });
  }
});
