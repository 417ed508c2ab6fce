import { countText } from '../count.ts';
import { horizontalBars, htmlFigures, htmlPage, htmlTable, verticalBars } from '../reports/htmlpage.ts';
import { dollarsText, usdText } from '../reports/money.ts';
import type { OfficeResult, Picture } from './result.ts';
import { type ShownColumn, shownColumns } from './shown.ts';
import { aboutLines, checkLine, type MoreTotal, moreTotals, totalLabel, words } from './wording.ts';

/** A report as one HTML page that needs nothing else: for screens, for phones, where a row is a card, and for paper. */
export function officeHtml(result: OfficeResult): string {
  const { title, columns, rows, totals, check, made, picture } = result;
  const shown = shownColumns(columns);
  const { groups } = moreTotals(totals, columns);
  return htmlPage({
    title,
    about: aboutLines(result),
    made,
    body: [
      htmlFigures(figuresOf(result)),
      ...(picture === undefined || picture.of.length === 0 ? [] : [pictureHtml(picture)]),
      rows.length === 0 ? '<section><p>There are none.</p></section>' : rowsTable(result, shown),
      ...groups.map(({ label, of }) => groupTable(label, of)),
    ],
    foot: checkLine(check),
    hasMoney: columns.some(({ kind }) => kind === 'cents'),
    style: styleOf(shown),
  });
}

/** Sums shown above the table when there are more than a few. */
const MAIN_SUMS = ['overdueCents', 'balanceCents'];
const FEW = 3;
/** Amounts of single rows, whose sum says little. */
const MINOR_SUMS = ['amountBeforeCents', 'lastPaymentCents'];

function figuresOf({ columns, totals }: OfficeResult): (readonly [name: string, value: string])[] {
  const money = columns
    .filter(({ name, kind }) => kind === 'cents' && !MINOR_SUMS.includes(name))
    .map(({ name }) => name);
  const sums = (money.length > FEW ? MAIN_SUMS : money).flatMap((name) => {
    const cents = totals[name];
    return typeof cents === 'number' ? [[words(name), usdText(cents)] as const] : [];
  });
  const { single } = moreTotals(totals, columns);
  return [
    ['rows', countText(totals.count)],
    ...sums,
    ...single.map((total) => [total.label, amountOf(total)] as const),
  ];
}

function amountOf({ count, cents }: MoreTotal): string {
  return cents === undefined ? countText(count ?? 0) : usdText(cents);
}

function rowsTable({ rows, totals, clockOf }: OfficeResult, shown: readonly ShownColumn[]): string {
  const cells = rows.map((row) => {
    const clock = clockOf(row);
    return shown.map(({ text }) => text(row, clock));
  });
  const sums = shown.map(({ sumOf }) => {
    const cents = sumOf === undefined ? undefined : totals[sumOf];
    return typeof cents === 'number' ? dollarsText(cents) : '';
  });
  const label = shown.findIndex(({ sumOf }) => sumOf === undefined);
  const foot = sums.map((sum, at) => (at === label ? totalLabel(totals) : sum));
  return `<div class="cards">\n${htmlTable('', shown, cells, foot)}\n</div>`;
}

function groupTable(label: string, of: readonly MoreTotal[]): string {
  const rows = of.map(({ label: name, count, cents }) => [
    name,
    count === undefined ? '' : countText(count),
    cents === undefined ? '' : dollarsText(cents),
  ]);
  const columns = [
    { title: label.replace(/^by /, ''), holds: 'words' },
    { title: 'rows', holds: 'numbers' },
    { title: 'amount', holds: 'numbers' },
  ] as const;
  return htmlTable(`Totals ${label}`, columns, rows);
}

const COLOR = '#1f5f8b';

/** Characters of labels that fit below the bars, side by side. */
const LABELS = 60;

function pictureHtml({ title, bars, of }: Picture): string {
  const total = of.reduce((sum, { cents }) => sum + Math.max(0, cents), 0);
  const share = (cents: number) => (total === 0 ? '' : `${Math.round((Math.max(0, cents) / total) * 100)}%`);
  const widest = Math.max(...of.map(({ label }) => label.length + 1));
  const every = bars === 'columns' ? Math.ceil((of.length * widest) / LABELS) : 1;
  const drawn = of.map(({ label, cents }, at) => {
    return { label: at % every === 0 ? label : '', cents, color: COLOR, more: share(cents) };
  });
  return bars === 'columns' ? verticalBars(title, drawn) : horizontalBars(title, drawn);
}

/** Landscape on paper; on a phone each row is a card whose lines begin with the titles of the columns. */
function styleOf(shown: readonly ShownColumn[]): string {
  const labels = shown.map(
    ({ title }, at) => `  .cards td:nth-child(${at + 1})::before { content: "${title.replace(/["\\<]/g, '')}"; }`,
  );
  // A note or an address may have a word longer than its column; names are not to be broken.
  const whole = shown.flatMap(({ isGroup }, at) =>
    isGroup ? [`.cards td.w:nth-child(${at + 1}) { overflow-wrap: break-word; min-width: 5rem; }`] : [],
  );
  return `
body { max-width: 100rem; }
svg { max-width: 45rem; overflow: visible; }
@page { size: letter landscape; margin: 0.5in; }
.cards td:not(.w) { white-space: pre; }
${whole.join('\n')}
.cards th { white-space: normal; vertical-align: bottom; }
@media screen and (max-width: 40rem) {
  body { padding: 1rem; }
  svg text { font-size: 18px; }
  .cards thead { display: none; }
  .cards tr { display: block; padding: .5rem 0; border-bottom: 1px solid #52606d; }
  .cards td, .cards td:not(.w) { display: flex; gap: .75rem; border: 0; padding: .1rem 0; text-align: left;
    white-space: pre-line; overflow-wrap: anywhere; }
  .cards td:empty { display: none; }
  .cards td::before { flex: 0 0 8rem; color: #52606d; overflow-wrap: normal; }
${labels.join('\n')}
}
`;
}
