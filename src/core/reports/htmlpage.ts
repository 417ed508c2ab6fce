import type { LocalClock } from '../output/localclock.ts';
import { dollarsText } from './money.ts';

/** The content of a page to print or to send. */
export interface HtmlPage {
  readonly title: string;
  /** Lines below the title: what the figures are about. */
  readonly about: readonly string[];
  /** HTML, already escaped. */
  readonly body: readonly string[];
  /** Line at the end, such as the check of the sums; empty for none. */
  readonly foot: string;
  /** False where it shows no amounts. */
  readonly hasMoney?: boolean;
  /** Styles of this page, after those that all have. */
  readonly style?: string;
  /** When it was made. */
  readonly made: MadeAt;
}

/** UTC milliseconds, and the clock that shows them. */
export interface MadeAt {
  readonly at: number;
  readonly clock: LocalClock;
}

/** One HTML page that needs nothing else, with styles for screen and paper; its policy lets nothing be loaded or run. */
export function htmlPage({ title, about, body, foot, hasMoney = true, style = '', made }: HtmlPage): string {
  return `${[
    '<!DOCTYPE html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<link rel="icon" href="data:,">',
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}${style}</style>`,
    '</head>',
    '<body>',
    '<header>',
    `<h1>${escaped(title)}</h1>`,
    ...about.map((line) => `<p>${escaped(line)}</p>`),
    '</header>',
    ...body,
    '<footer>',
    ...(foot === '' ? [] : [`<p>${escaped(foot)}</p>`]),
    `<p>${escaped(madeText(made))}${hasMoney ? ' Amounts in US dollars.' : ''}</p>`,
    '</footer>',
    '</body>',
    '</html>',
  ].join('\n')}\n`;
}

/** When a report was made, as a sentence. */
export function madeText({ at, clock }: MadeAt): string {
  const { date, time, offset } = clock.of(at);
  return `Made ${date} ${time}${offset} (${clock.zone}).`;
}

/** Text escaped for HTML, between tags and in quoted attributes; control characters are removed. */
export function escaped(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
      .replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g, '')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;')
  );
}

/** A column of a table: numbers are aligned right, and only words may wrap. */
export interface HtmlColumn {
  readonly title: string;
  readonly holds: 'numbers' | 'words' | 'names';
}

const CLASSES = { numbers: ' class="n"', words: ' class="w"', names: '' };

/** A table with its heading, empty for none; `total` is its last row. */
export function htmlTable(
  heading: string,
  columns: readonly HtmlColumn[],
  rows: readonly (readonly string[])[],
  total?: readonly string[],
): string {
  const side = (at: number) => CLASSES[columns[at]?.holds ?? 'names'];
  const line = (cells: readonly string[]) =>
    `<tr>${cells.map((cell, at) => `<td${side(at)}>${escaped(cell)}</td>`).join('')}</tr>`;
  const titles = columns.map(({ title }, at) => `<th scope="col"${side(at)}>${escaped(title)}</th>`);
  return [
    '<section>',
    ...(heading === '' ? [] : [`<h2>${escaped(heading)}</h2>`]),
    '<div class="wide"><table>',
    `<thead><tr>${titles.join('')}</tr></thead>`,
    `<tbody>\n${rows.map(line).join('\n')}\n</tbody>`,
    ...(total === undefined ? [] : [`<tfoot>${line(total)}</tfoot>`]),
    '</table></div>',
    '</section>',
  ].join('\n');
}

/** The few figures that matter most, in a row. */
export function htmlFigures(figures: readonly (readonly [name: string, value: string])[]): string {
  const each = figures.map(([name, value]) => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`);
  return `<dl class="figures">${each.join('')}</dl>`;
}

const STYLE = `
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 2rem 1.5rem; background: #fff; color: #1c2733;
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
header { border-bottom: 2px solid #1f5f8b; padding-bottom: .75rem; margin-bottom: 1.25rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.05rem; margin: 0 0 .5rem; break-after: avoid; }
p { margin: 0; overflow-wrap: anywhere; }
header p, footer { color: #52606d; }
section { margin: 0 0 1.75rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .75rem; margin: 0 0 1.5rem; }
.figures div { border: 1px solid #d9e0e7; border-radius: 6px; padding: .5rem .75rem; }
dt { color: #52606d; font-size: .8rem; }
dd { margin: 0; font-size: 1.2rem; font-weight: 600; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: auto; font-family: inherit; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th, td { padding: .3rem .5rem; text-align: left; vertical-align: top; border-bottom: 1px solid #e4e9ee;
  white-space: nowrap; unicode-bidi: isolate; }
th { border-bottom: 1.5px solid #52606d; }
td.w { white-space: normal; overflow-wrap: anywhere; min-width: 6rem; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
tfoot { display: table-row-group; }
tfoot td { border-bottom: 0; border-top: 1.5px solid #52606d; font-weight: 600; }
tr, .figures, svg { break-inside: avoid; }
footer { border-top: 1px solid #d9e0e7; padding-top: .75rem; font-size: .85rem; break-inside: avoid; }
@page { size: letter; margin: 0.6in; }
@media print {
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .wide { overflow: visible; }
  table { font-size: 8.5pt; }
  th, td { padding: .2rem .35rem; }
}
`;

/** A bar of a chart; amounts of 0 or less have no length. */
export interface Bar {
  readonly label: string;
  readonly cents: number;
  readonly color: string;
  /** Shown beside the amount of a horizontal bar. */
  readonly more?: string;
}

const WIDTH = 720;
const GREY = '#52606d';

/** Horizontal bars, one per line, with label and amount. SVG. */
export function horizontalBars(title: string, bars: readonly Bar[]): string {
  const most = Math.max(1, ...bars.map(({ cents }) => cents));
  const [line, left, room] = [30, 100, 440];
  const drawn = bars.map(({ label, cents, color, more = '' }, at) => {
    const top = at * line + 4;
    const middle = top + 15;
    return [
      text(label, { x: left - 12, y: middle, anchor: 'end' }),
      `<rect x="${left}" y="${top}" width="${room}" height="22" rx="3" fill="#f1f4f7"/>`,
      `<rect x="${left}" y="${top}" width="${lengthOf(cents, most, room)}" height="22" rx="3" fill="${color}"/>`,
      text(dollarsText(cents), { x: WIDTH - 52, y: middle, anchor: 'end', weight: 600 }),
      text(more, { x: WIDTH, y: middle, anchor: 'end', fill: GREY }),
    ].join('');
  });
  return picture(title, bars.length * line, drawn);
}

/** Vertical bars over a scale of dollars; amounts above the bars where there is room. SVG. */
export function verticalBars(title: string, bars: readonly Bar[]): string {
  const [top, room, left] = [24, 170, 76];
  const bottom = top + room;
  const most = scaleEnd(Math.max(0, ...bars.map(({ cents }) => cents)));
  const step = (WIDTH - left) / Math.max(1, bars.length);
  const lines = [0, 0.5, 1].map((part) => {
    const y = bottom - part * room;
    const amount = dollarsText(part * most).replace(/\.00$/, '');
    const grid = `<line x1="${left}" x2="${WIDTH}" y1="${y}" y2="${y}" stroke="${part === 0 ? GREY : '#d9e0e7'}"/>`;
    return grid + text(amount, { x: left - 8, y: y + 4, anchor: 'end', fill: GREY });
  });
  const drawn = bars.map(({ label, cents, color }, at) => {
    const height = lengthOf(cents, most, room);
    const wide = Math.min(48, step * 0.7);
    const middle = left + (at + 0.5) * step;
    const rounded = (value: number) => Number(value.toFixed(2));
    return [
      `<rect x="${rounded(middle - wide / 2)}" y="${rounded(bottom - height)}" width="${rounded(wide)}" height="${height}" fill="${color}"/>`,
      bars.length > 8 ? '' : text(dollarsText(cents), { x: rounded(middle), y: rounded(bottom - height - 6) }),
      text(label, { x: rounded(middle), y: bottom + 18, size: step < 24 ? 10 : 12, fill: GREY }),
    ].join('');
  });
  return picture(title, bottom + 26, [...lines, ...drawn]);
}

function lengthOf(cents: number, most: number, room: number): number {
  return cents <= 0 ? 0 : Number(Math.max(1, (cents / most) * room).toFixed(2));
}

/** A round number of cents, an even number of dollars, at or above the largest bar: 2, 4, 6, 8 or 10 times a power of ten. */
function scaleEnd(most: number): number {
  const unit = 10 ** Math.max(2, Math.floor(Math.log10(Math.max(1, most))));
  return ([2, 4, 6, 8, 10].find((times) => times * unit >= most) ?? 10) * unit;
}

interface TextOptions {
  readonly x: number;
  readonly y: number;
  readonly anchor?: 'middle' | 'end';
  readonly size?: number;
  readonly weight?: number;
  readonly fill?: string;
}

function text(
  words: string,
  { x, y, anchor = 'middle', size = 12, weight = 400, fill = '#1c2733' }: TextOptions,
): string {
  if (words === '') return '';
  const look = `font-size="${size}" font-weight="${weight}" fill="${fill}" text-anchor="${anchor}"`;
  return `<text x="${x}" y="${y}" ${look}>${escaped(words)}</text>`;
}

function picture(title: string, height: number, drawn: readonly string[]): string {
  const name = escaped(title);
  return `<section>\n<h2>${name}</h2>\n<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${name}">\n${drawn.join('\n')}\n</svg>\n</section>`;
}
