import type { Row } from '../pages/page.ts';
import { type Column, valueAt } from './columns.ts';
import { tableText } from './displaytext.ts';
import type { LocalClock } from './localclock.ts';
import { banded, PLAIN, type Style } from './style.ts';
import { GAP, tableWidths } from './tablewidths.ts';
import { displayWidth, fitText } from './terminaltext.ts';
import type { Formatter } from './writepages.ts';

export interface TableOptions {
  /** Columns of the terminal; undefined where there is none: then nothing is cut. */
  readonly width: number | undefined;
  readonly header: boolean;
  /** Clock of its date-times, where it has some. */
  readonly clock?: LocalClock;
  /** Plain where not given; otherwise the header stands out and every second line is faint. */
  readonly style?: Style;
  /** Told the names of the columns that did not fit. */
  readonly onHidden?: (names: readonly string[]) => void;
}

/**
 * A table for people: one line a record, columns apart by a gap. Widths follow the first page and are kept, so that
 * pages can be written as they come.
 */
export function tableFormatter(columns: readonly Column[], options: TableOptions): Formatter {
  const { header, clock, style = PLAIN } = options;
  let layout: Layout | undefined;
  let headed = false;
  let drawn = 0;
  const draw = (rows: readonly Row[]) => {
    const laid = layout ?? layOut(rows, columns, options);
    layout = laid;
    const lines = rows.map((row) => banded(rowLine(row, laid, clock), drawn++, style));
    const head = header && !headed ? headerLines(laid, style) : '';
    headed = true;
    return head + lines.join('');
  };
  return {
    begin: () => '',
    page: (rows) => {
      layout ??= layOut(rows, columns, options);
    },
    rows: draw,
    end: () => (headed ? '' : draw([])),
  };
}

interface LaidOut {
  readonly column: Column;
  readonly width: number;
  /** Numbers stand at the right. */
  readonly isRight: boolean;
  /** Longer text is cut. */
  readonly isCut: boolean;
}

type Layout = readonly LaidOut[];

function layOut(rows: readonly Row[], columns: readonly Column[], options: TableOptions): Layout {
  const needs = columns.map((column) => ({
    header: displayWidth(column.name),
    cells: rows.reduce((most, row) => Math.max(most, displayWidth(shown(row, column, options.clock))), 0),
    isId: column.isId || column.isWhole === true,
  }));
  const widths = tableWidths(needs, options.width ?? Number.POSITIVE_INFINITY);
  const hidden = columns.slice(widths.length).map((column) => column.name);
  if (hidden.length > 0) options.onHidden?.(hidden);
  return columns.slice(0, widths.length).map((column, at) => ({
    column,
    width: widths[at] ?? 0,
    isRight: !column.isId && rows.some((row) => typeof valueAt(row, column) === 'number'),
    isCut: !column.isId && column.isWhole !== true && options.width !== undefined,
  }));
}

function headerLines(layout: Layout, style: Style): string {
  const names = layout.map(({ column, width, isRight }) => padded(fitText(column.name, width), width, isRight));
  const rule = layout.map(({ width }) => '─'.repeat(width));
  return `${style('heading', line(names))}\n${style('faint', line(rule))}\n`;
}

function rowLine(row: Row, layout: Layout, clock: LocalClock | undefined): string {
  return line(
    layout.map(({ column, width, isRight, isCut }) => {
      const text = shown(row, column, clock);
      return padded(isCut ? fitText(text, width) : text, width, isRight);
    }),
  );
}

function padded(text: string, width: number, isRight: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return isRight ? blanks + text : text + blanks;
}

/** Without blanks at the end: on a terminal that is exactly as wide they would wrap. */
function line(cells: readonly string[]): string {
  return cells.join(' '.repeat(GAP)).trimEnd();
}

function shown(row: Row, column: Column, clock: LocalClock | undefined): string {
  return tableText(valueAt(row, column), column.kind, clock);
}
