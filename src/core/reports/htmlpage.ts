import type { LocalClock } from '../output/localclock.ts';

/** What stands on a page that is printed or sent on. */
export interface HtmlPage {
  readonly title: string;
  /** Lines below the title: what the figures are of. */
  readonly about: readonly string[];
  /** HTML, already escaped. */
  readonly body: readonly string[];
  /** Line at the end, such as the check of the sums. */
  readonly foot: string;
  /** When it was made. */
  readonly made: MadeAt;
}

/** UTC milliseconds, and the clock that shows them. */
export interface MadeAt {
  readonly at: number;
  readonly clock: LocalClock;
}

/** One HTML page that needs nothing else, with styles for screen and paper; its policy lets nothing be loaded or run. */
export function htmlPage({ title, about, body, foot, made }: HtmlPage): string {
  const { date, time, offset } = made.clock.of(made.at);
  return `${[
    '<!DOCTYPE html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<link rel="icon" href="data:,">',
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    '</head>',
    '<body>',
    '<header>',
    `<h1>${escaped(title)}</h1>`,
    ...about.map((line) => `<p>${escaped(line)}</p>`),
    '</header>',
    ...body,
    '<footer>',
    `<p>${escaped(foot)}</p>`,
    `<p>Made ${date} ${time}${offset} (${escaped(made.clock.zone)}). Amounts in US dollars.</p>`,
    '</footer>',
    '</body>',
    '</html>',
  ].join('\n')}\n`;
}

/** Text as it stands in HTML, between tags and in quoted attributes; control characters are left out. */
export function escaped(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is left out
      .replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g, '')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;')
  );
}

/** A column of a table: its title; numbers stand at the right, and only words may be broken into lines. */
export interface HtmlColumn {
  readonly title: string;
  readonly holds: 'numbers' | 'words' | 'names';
}

const CLASSES = { numbers: ' class="n"', words: ' class="w"', names: '' };

/** A table with its heading; `total` is its last row. */
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
    `<h2>${escaped(heading)}</h2>`,
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
