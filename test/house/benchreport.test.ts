import { describe, expect, it } from 'vitest';
import { overview, Report, summary } from '../bench/results.js';

/** A report with one section, and the lines it said. */
function reporting() {
  const lines: string[] = [];
  const report = new Report((text: string) => lines.push(text));
  report.section('Reading', 'Everything is durable.');
  return { report, lines };
}

const lists = { what: 'list of 100', against: 'bare node:http', unit: '/s' };

describe('the report of measurements', () => {
  it.each([
    ['one round', [7], { median: 7, low: 7, high: 7, least: 7, most: 7 }],
    ['an odd number', [5, 1, 3], { median: 3, low: 2, high: 4, least: 1, most: 5 }],
    ['an even number', [4, 1, 3, 2], { median: 2.5, low: 1.75, high: 3.25, least: 1, most: 4 }],
  ])('takes the middle of %s', (_, values, expected) => {
    expect(summary(values)).toEqual(expected);
  });

  it.each([
    ['within', [90, 80, 100], { atLeast: 0.8 }, true, '0.900×', 'kept'],
    ['on the budget', [80, 80, 80], { atLeast: 0.8 }, true, '0.800×', 'kept'],
    ['below what is asked', [79, 79, 79], { atLeast: 0.8 }, false, '0.790×', 'MISS'],
    ['above what is allowed', [131, 131, 131], { atMost: 1.3 }, false, '1.31×', 'MISS'],
    ['without a budget', [300, 300, 300], undefined, true, '3.00×', ''],
  ])('judges a ratio %s', (_, ours, budget, kept, result, verdict) => {
    const { report } = reporting();
    report.ratio({ ...lists, ours, theirs: [100, 100, 100], budget });
    expect(report.kept).toBe(kept);
    expect(report.sections[0]?.rows[0]).toMatchObject({ result, verdict });
  });

  it('compares round by round, so that a slow minute of the machine counts on both sides', () => {
    const { report } = reporting();
    report.ratio({ ...lists, ours: [50, 500, 50], theirs: [100, 1000, 100], budget: { atLeast: 0.5 } });
    expect(report.sections[0]?.rows[0]).toMatchObject({ result: '0.500×', spread: '0.500–0.500×', verdict: 'kept' });
  });

  it('turns times round where the budget asks how many times faster', () => {
    const { report } = reporting();
    report.ratio({ ...lists, ours: [2, 2], theirs: [11, 11], unit: 's', budget: { atLeast: 5 }, faster: true });
    expect(report.sections[0]?.rows[0]).toMatchObject({ result: '5.50×', verdict: 'kept' });
  });

  it('remembers a miss among others, and has everything on the page', () => {
    const { report, lines } = reporting();
    report.value({ what: 'idle', values: [121.5], unit: 'MB', budget: { atMost: 120 } });
    report.value({ what: 'patients', values: [1_234_567], unit: '' });
    report.ratio({ ...lists, against: 'curl | jq', ours: [3], theirs: [1] });
    report.note('heroku is left out.');
    expect(report.kept).toBe(false);
    const page = report.markdown('reading', 'A machine; measured on 2026-01-02');
    expect(page).toContain('\n\nA machine; measured on 2026-01-02\n\n## Reading\n\nEverything is durable.\n\n');
    expect(page).toContain('| idle | 122 MB |  | 122 MB |  | ≤ 120 MB | MISS |');
    expect(page).toContain('| patients | 1,234,567');
    expect(page).toContain('| list of 100 | 3.00 /s | curl \\| jq: 1.00 /s | 3.00× |');
    expect(page.endsWith(' |\n\n- heroku is left out.\n')).toBe(true);
    const above = overview([['reading', page]]);
    expect(above).toContain('| [reading](results/reading.md) | Reading | 2026-01-02 | 0 | 1 |');
    expect(above.endsWith('| reading | idle |  | 122 MB | ≤ 120 MB |\n')).toBe(true);
    expect(lines.join('\n')).toMatch(/idle .*MISS \(≤ 120 MB\)/);
  });
});
