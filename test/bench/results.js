// What measurements found: ratios of medians with their spread, against budgets, as text and as a page of Markdown.

const KEPT = 'kept';
const MISSED = 'MISS';

/** The middle value, and the ends of the middle half. */
export function summary(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share) => {
    const position = (sorted.length - 1) * share;
    const below = Math.floor(position);
    return sorted[below] + ((sorted[below + 1] ?? sorted[below]) - sorted[below]) * (position - below);
  };
  return { median: at(0.5), low: at(0.25), high: at(0.75), least: at(0), most: at(1) };
}

/** A regression that is shown, and larger than this, fails a comparison. */
const ACCEPTED = 1.02;

/** The median ratio of the rounds, and its confidence interval: of at least 95 %, or as wide as so few rounds allow. */
export function judge(ratios) {
  const strange = ratios.find((ratio) => !Number.isFinite(ratio));
  // Compared with 1, it would show no difference.
  if (strange !== undefined) throw new Error(`The ratio of a round is ${strange}: its costs were not measured.`);
  const sorted = ratios.toSorted((a, b) => a - b);
  const outside = outsideOf(sorted.length);
  const [low, high] = [sorted[outside], sorted.at(-1 - outside)];
  const { median } = summary(ratios);
  const verdict = low > 1 ? 'costs more' : high < 1 ? 'costs less' : 'no difference shown';
  return { median, low, high, verdict, isRegression: low > 1 && median > ACCEPTED };
}

/**
 * How many rounds at each end are outside of the interval, by the sign test. It assumes that rounds are independent, but no
 * distribution of their noise: each is as likely below the true median as above, so how many are below has the binomial
 * distribution of that many throws of a fair coin.
 */
function outsideOf(rounds) {
  // Of at most so many rounds below, and in how many ways exactly so many can be chosen.
  let probability = 0;
  let ways = 1;
  for (let below = 0; ; below++) {
    probability += ways / 2 ** rounds;
    if (probability > 0.025) return Math.max(0, below - 1);
    ways = (ways * (rounds - below)) / (below + 1);
  }
}

/** Takes what one measurement finds, says each line at once, and keeps it for the page. */
export class Report {
  /** `budgets`: those of the measurement, of budgets.js. */
  constructor(say, budgets = {}) {
    this.say = say;
    this.budgets = budgets;
    this.sections = [];
  }

  /** Begins a section; `conditions` tell what was on while it was measured: durability, auth, audit, outbox, rate limit. */
  section(title, conditions) {
    this.sections.push({ title, conditions, rows: [], notes: [] });
    this.say(`\n${title}\n${conditions}`);
  }

  /**
   * What molar took against what something else took, round by round in turn (so that what else the machine does meets
   * both). `ours` and `theirs` hold one figure a round, both times or both rates, in `unit`. The ratio is ours to
   * theirs; `faster: true` turns it round, for times of which the budget asks how many times faster molar is. Answers
   * whether the budget, if there is one, is kept.
   */
  ratio({ what, ours, theirs, against, unit, faster = false }) {
    const ratios = ours.map((value, round) => (faster ? theirs[round] / value : value / theirs[round]));
    const [own, other] = [summary(ours), summary(theirs)];
    const ratio = summary(ratios).median;
    return this.#add({
      what,
      ours: figure(own.median, unit),
      against: `${against}: ${figure(other.median, unit)}`,
      result: `${digits(ratio)}×`,
      spread: `${digits(summary(ratios).low)}–${digits(summary(ratios).high)}×`,
      unit: '×',
      value: ratio,
    });
  }

  /** A figure that is measured by itself, such as memory. */
  value({ what, values, unit }) {
    const own = summary(values);
    return this.#add({
      what,
      ours: figure(own.median, unit),
      against: '',
      result: figure(own.median, unit),
      spread: values.length > 1 ? `${figure(own.low, unit)}–${figure(own.high, unit)}` : '',
      unit: ` ${unit}`,
      value: own.median,
    });
  }

  /** A sentence under the section: where the time of a miss goes, what was left out and why. */
  note(text) {
    this.sections.at(-1).notes.push(text);
    this.say(text);
  }

  /** Whether every budget was kept. */
  get kept() {
    return this.sections.every(({ rows }) => rows.every(({ verdict }) => verdict !== MISSED));
  }

  #add(measured) {
    const row = { ...measured, budget: budgetOf(this.budgets, measured.what) };
    const verdict = verdictOf(row);
    this.sections.at(-1).rows.push({ ...row, verdict });
    const cells = [row.what.padEnd(44), row.ours.padEnd(12), row.result.padEnd(9), row.spread.padEnd(16), row.against];
    this.say(`${cells.join('  ').trimEnd()}  ${verdict === '' ? '' : `${verdict} (${budgetText(row)})`}`.trimEnd());
    return verdict !== MISSED;
  }

  /** The page of a measurement; `machine` tells where and when it was made. */
  markdown(name, machine) {
    const parts = [`# npm run bench -- ${name}`, machine];
    for (const { title, conditions, rows, notes } of this.sections) {
      parts.push(`## ${title}`, conditions, table(rows));
      if (notes.length > 0) parts.push(notes.map((note) => `- ${note}`).join('\n'));
    }
    return `${parts.join('\n\n')}\n`;
  }
}

/** The page above all pages, with what they miss; `pages` holds name and text of each. */
export function overview(pages) {
  const rows = pages.map(([name, text]) => {
    const titles = [...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title).join('; ');
    const [, measured = ''] = /measured on (\d{4}-\d\d-\d\d)/.exec(text) ?? [];
    const [kept, missed] = [KEPT, MISSED].map((verdict) => String(rowsWith(text, verdict).length));
    return [`[${name}](results/${name}.md)`, titles, measured, kept, missed];
  });
  const missed = pages.flatMap(([name, text]) =>
    rowsWith(text, MISSED).map(([what, , against, result, , budget]) => [name, what, against, result, budget]),
  );
  return `${[
    '# What molar takes',
    'Each page is written by `npm run bench -- NAME`, in one go on one machine. A figure is a median; the spread is the middle half of the rounds. A ratio compares what was measured in turn in the same run, so it says more than the figures do.',
    markdownTable(['Measurement', 'Of what', 'Measured', 'Budgets kept', 'Missed'], rows),
    '## What is missed',
    markdownTable(['Measurement', 'What', 'Against', 'Result', 'Budget'], missed),
  ].join('\n\n')}\n`;
}

/** Cells of the rows of a page that end with a verdict. */
function rowsWith(text, verdict) {
  const lines = text.split('\n').filter((line) => line.endsWith(`| ${verdict} |`));
  return lines.map((line) => line.slice(2, -2).split(' | '));
}

const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** The budget of a figure: that of the first name that fits it, in which a star stands for any text. */
export function budgetOf(budgets, what) {
  const fits = ([name]) => new RegExp(`^${name.split('*').map(escaped).join('.+')}$`).test(what);
  return Object.entries(budgets).find(fits)?.[1];
}

function verdictOf({ budget, value }) {
  if (budget === undefined) return '';
  const kept = value <= (budget.atMost ?? Infinity) && value >= (budget.atLeast ?? -Infinity);
  return kept ? KEPT : MISSED;
}

/** A budget as reports have it, with the unit of its figure; empty where there is none. */
export function budgetText({ budget, unit }) {
  if (budget === undefined) return '';
  return budget.atMost === undefined ? `≥ ${budget.atLeast}${unit}` : `≤ ${budget.atMost}${unit}`;
}

function table(rows) {
  return markdownTable(
    ['What', 'molar', 'against', 'result', 'spread', 'budget', ''],
    rows.map((row) =>
      [row.what, row.ours, row.against, row.result, row.spread, budgetText(row), row.verdict].map((cell) =>
        cell.replaceAll('|', '\\|'),
      ),
    ),
  );
}

function markdownTable(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const figure = (value, unit) => `${digits(value)} ${unit}`;

/** Three digits that say something: 0.0123, 1.23, 12.3, 1,234. */
export function digits(value) {
  const places = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en', {
    minimumFractionDigits: Math.min(places, 4),
    maximumFractionDigits: Math.min(places, 4),
  });
}
