import { escaped } from './htmlpage.ts';
import { dollarsText } from './money.ts';

/** A bar of a chart; amounts of 0 or less have no length. */
export interface Bar {
  readonly label: string;
  readonly cents: number;
  readonly color: string;
  /** Stands beside the amount of a lying bar. */
  readonly more?: string;
}

const WIDTH = 720;
const GREY = '#52606d';

/** Lying bars, one a line, with label and amount. SVG. */
export function lyingBars(title: string, bars: readonly Bar[]): string {
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

/** Standing bars over a scale of whole dollars; amounts over the bars where there is room. SVG. */
export function standingBars(title: string, bars: readonly Bar[]): string {
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

interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly anchor?: 'middle' | 'end';
  readonly size?: number;
  readonly weight?: number;
  readonly fill?: string;
}

function text(
  words: string,
  { x, y, anchor = 'middle', size = 12, weight = 400, fill = '#1c2733' }: TextPlace,
): string {
  if (words === '') return '';
  const look = `font-size="${size}" font-weight="${weight}" fill="${fill}" text-anchor="${anchor}"`;
  return `<text x="${x}" y="${y}" ${look}>${escaped(words)}</text>`;
}

function picture(title: string, height: number, drawn: readonly string[]): string {
  const name = escaped(title);
  return `<section>\n<h2>${name}</h2>\n<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${name}">\n${drawn.join('\n')}\n</svg>\n</section>`;
}
