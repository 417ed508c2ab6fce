import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUDGETS } from '../bench/budgets.js';
import { costOfProcess, costOfRunning } from '../bench/cost.js';
import { type Budgets, budgetOf, budgetText, judge, overview, Report, summary } from '../bench/results.js';
import { ROOT } from './tree.ts';

/** A report with one section, and the lines it said. */
function reporting(budgets: Budgets = {}) {
  const lines: string[] = [];
  const report = new Report((text: string) => lines.push(text), budgets);
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
    const { report } = reporting(budget && { 'list of 100': budget });
    report.ratio({ ...lists, ours, theirs: [100, 100, 100] });
    expect(report.kept).toBe(kept);
    expect(report.sections[0]?.rows[0]).toMatchObject({ result, verdict });
  });

  it('compares round by round, so that a slow minute of the machine counts on both sides', () => {
    const { report } = reporting({ 'list of *': { atLeast: 0.5 } });
    report.ratio({ ...lists, ours: [50, 500, 50], theirs: [100, 1000, 100] });
    expect(report.sections[0]?.rows[0]).toMatchObject({ result: '0.500×', spread: '0.500–0.500×', verdict: 'kept' });
  });

  it('turns times round where the budget asks how many times faster', () => {
    const { report } = reporting({ 'list of *': { atLeast: 5 } });
    report.ratio({ ...lists, ours: [2, 2], theirs: [11, 11], unit: 's', faster: true });
    expect(report.sections[0]?.rows[0]).toMatchObject({ result: '5.50×', verdict: 'kept' });
  });

  it('remembers a miss among others, and has everything on the page', () => {
    const { report, lines } = reporting({ idle: { atMost: 120 } });
    report.value({ what: 'idle', values: [121.5], unit: 'MB' });
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

  it.each([
    ['list of 100', 1],
    ['list of 500, of 2,000 records', 2],
    ['a list of 100', undefined],
    ['list of ', undefined],
    ['count (all)', 3],
    ['count all', undefined],
  ])('finds the first budget whose name fits: %s', (what, atMost) => {
    const budgets = { 'list of 100': { atMost: 1 }, 'list of *': { atMost: 2 }, 'count (all)': { atMost: 3 } };
    expect(budgetOf(budgets, what)?.atMost).toBe(atMost);
  });
});

/** What a page of results says of its figures: their names, budgets and verdicts. */
function rowsOf(name: string): (readonly [what: string, budget: string, verdict: string])[] {
  const text = readFileSync(join(ROOT, 'test/bench/results', `${name}.md`), 'utf8');
  const lines = text.split('\n').filter((line) => line.startsWith('| ') && !/^\| (?:What|---) /.test(line));
  return lines.map((line) => {
    const cells = line.slice(2, -2).split(/ \| /);
    return [cells[0] ?? '', cells.at(-2) ?? '', (cells.at(-1) ?? '').trim()];
  });
}

const LEFT_OUT =
  'if the notes of the page say that something was left out (without curl, jq, PostgreSQL or Linux), measure again where it is there';

describe('the budgets', () => {
  const names = readdirSync(join(ROOT, 'test/bench/results')).map((file) => file.replace('.md', ''));

  it.each(names)('are those that the page of %s was judged by', (name) => {
    const budgets: Budgets = BUDGETS[name] ?? {};
    const rows = rowsOf(name);
    for (const [what, budget, verdict] of rows) {
      const asked = budgetOf(budgets, what);
      expect([what, budget.replace(/(?:×| [A-Za-z/]+)$/, ''), verdict !== '']).toEqual([
        what,
        budgetText({ budget: asked, unit: '' }),
        asked !== undefined,
      ]);
    }
    // A name that fits nothing, or only what an earlier one fits, would never fail.
    const used = new Set(rows.map(([what]) => budgetOf(budgets, what)));
    const unused = Object.keys(budgets).filter((pattern) => !used.has(budgets[pattern]));
    expect(unused, `budgets without a figure in ${name}.md; ${LEFT_OUT}`).toEqual([]);
  });
});

describe('the comparison with another commit', () => {
  const FIFTEEN = [0.9, 0.95, 0.97, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08, 1.09, 1.2, 1.3, 5];

  it('leaves out three of fifteen rounds at each end, for 96 % confidence', () => {
    expect(judge(FIFTEEN.toReversed())).toEqual({
      ...{ median: 1.05, low: 1.01, high: 1.09 },
      ...{ verdict: 'costs more', isRegression: true },
    });
  });

  it.each<[string, number[], string, boolean]>([
    ['few rounds that differ', [1.1, 1.2, 1.05, 1.1, 0.99], 'no difference shown', false],
    ['few rounds that agree', [1.1, 1.2, 1.05, 1.1, 1.01], 'costs more', true],
    ['what is too small to matter', Array(15).fill(1.01), 'costs more', false],
    ['what became cheaper', Array(15).fill(0.9), 'costs less', false],
    ['nothing', Array(15).fill(1), 'no difference shown', false],
  ])('judges %s', (_, ratios, verdict, isRegression) => {
    expect(judge(ratios)).toMatchObject({ verdict, isRegression });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('judges no rounds of which one has the ratio %s', (ratio) => {
    expect(() => judge([...FIFTEEN, ratio])).toThrow(`The ratio of a round is ${ratio}`);
  });

  it('takes what a process costs as a number above 0', async () => {
    expect((await costOfProcess(['-e', '0'], {}, tmpdir())).cost).toBeGreaterThan(0);
  });

  it('has no cost of a process that is not there', async () => {
    // Larger than any that Linux gives.
    const pid = 2 ** 22 + 1;
    await expect(costOfRunning(pid, tmpdir(), async () => undefined)).rejects.toThrow(`process ${pid}`);
  });
});
