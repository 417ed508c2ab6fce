import type { Row } from '../pages/page.ts';
import { type Column, valueAt } from './columns.ts';
import { tableText } from './displaytext.ts';
import type { LocalClock } from './localclock.ts';
import { banded, PLAIN, type Style } from './style.ts';
import { displayWidth, fitText, terminalText } from './terminaltext.ts';
import type { Formatter } from './writepages.ts';

/** Form of a table. */
export interface TableOptions {
  /** Columns of the terminal; undefined where there is none: then nothing is truncated. */
  readonly width: number | undefined;
  readonly header: boolean;
  /** Clock of the date-times of a record, where it has some. */
  readonly clockOf?: (record: Row) => LocalClock;
  /** Plain where not given; otherwise the header stands out and every second line is faint. */
  readonly style?: Style;
  /** Called with the names of the columns that did not fit. */
  readonly onHidden?: (names: readonly string[]) => void;
}

/**
 * A table for people: one line per record, columns separated by a gap. Widths follow from the first page, so that pages
 * can be written as they arrive.
 */
export function tableFormatter(columns: readonly Column[], options: TableOptions): Formatter {
  const { header, clockOf, style = PLAIN } = options;
  let layout: Layout | undefined;
  let headed = false;
  let drawn = 0;
  const draw = (rows: readonly Row[]) => {
    const laid = layout ?? layOut(rows, columns, options);
    layout = laid;
    const lines = rows.map((row) => banded(rowLine(row, laid, clockOf), drawn++, style));
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
  /** Numbers are aligned right. */
  readonly isRight: boolean;
  /** Longer text is truncated. */
  readonly isCut: boolean;
}

type Layout = readonly LaidOut[];

function layOut(rows: readonly Row[], columns: readonly Column[], options: TableOptions): Layout {
  const numeric = columns.map((column) => rows.some((row) => isNumber(valueAt(row, column))));
  const needs = columns.map((column, at) => ({
    header: displayWidth(terminalText(column.name)),
    cells: rows.reduce((most, row) => Math.max(most, displayWidth(shown(row, column, options.clockOf))), 0),
    isId: column.isId || column.isWhole === true || numeric[at] === true,
  }));
  const widths = tableWidths(needs, options.width ?? Number.POSITIVE_INFINITY);
  const hidden = columns.slice(widths.length).map((column) => column.name);
  if (hidden.length > 0) options.onHidden?.(hidden);
  return columns.slice(0, widths.length).map((column, at) => ({
    column,
    width: widths[at] ?? 0,
    isRight: !column.isId && numeric[at] === true,
    isCut: needs[at]?.isId !== true && options.width !== undefined,
  }));
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint';
}

function headerLines(layout: Layout, style: Style): string {
  const names = layout.map(({ column, width, isRight }) =>
    padded(fitText(terminalText(column.name), width), width, isRight),
  );
  const rule = layout.map(({ width }) => '─'.repeat(width));
  return `${style('heading', line(names))}\n${style('faint', line(rule))}\n`;
}

function rowLine(row: Row, layout: Layout, clockOf: TableOptions['clockOf']): string {
  return line(
    layout.map(({ column, width, isRight, isCut }) => {
      const text = shown(row, column, clockOf);
      return padded(isCut ? fitText(text, width) : text, width, isRight);
    }),
  );
}

function padded(text: string, width: number, isRight: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return isRight ? blanks + text : text + blanks;
}

/** Without trailing blanks, which would wrap on a terminal that is exactly as wide. */
function line(cells: readonly string[]): string {
  return cells.join(' '.repeat(GAP)).trimEnd();
}

function shown(row: Row, column: Column, clockOf: TableOptions['clockOf']): string {
  return tableText(valueAt(row, column), column.kind, column.kind === 'dateTime' ? clockOf?.(row) : undefined);
}

/** What a column needs when a table is laid out; widths in columns of the terminal. */
export interface ColumnNeed {
  readonly header: number;
  /** Of its widest cell. */
  readonly cells: number;
  /** Its cells are never truncated; its header may be. */
  readonly isId: boolean;
}

/** Blanks between two columns of a table. */
export const GAP = 2;

/** No header is truncated below this. */
const MIN_HEADER = 5;

/** No cell is truncated below this: columns are dropped before that. */
const MIN_CELL = 10;

/**
 * Widths of as many leading columns as fit into `available`; the widest ones that may be truncated shrink first. The
 * first column is never dropped, so the result is wider than the terminal only when an id itself is.
 */
export function tableWidths(needs: readonly ColumnNeed[], available: number): number[] {
  for (let count = needs.length; count > 1; count--) {
    const widths = fitted(needs.slice(0, count), available);
    if (widths !== undefined) return widths;
  }
  return needs.slice(0, 1).map((need) => (need.isId ? Math.max(need.cells, 2) : Math.min(natural(need), available)));
}

function fitted(needs: readonly ColumnNeed[], available: number): number[] | undefined {
  const widths = needs.map(natural);
  let excess = widths.reduce((sum, width) => sum + width, 0) + GAP * (needs.length - 1) - available;
  // A truncated header can still be guessed, so headers shrink before any cell does.
  const floors = [
    needs.map((need) => Math.max(MIN_HEADER, need.cells)),
    needs.map((need) => Math.max(MIN_HEADER, need.isId ? need.cells : Math.min(need.cells, MIN_CELL))),
  ];
  for (const floor of floors) {
    for (let at = widestAbove(floor, widths); excess > 0 && at !== undefined; at = widestAbove(floor, widths)) {
      widths[at] = (widths[at] ?? 0) - 1;
      excess--;
    }
  }
  return excess > 0 ? undefined : widths;
}

function natural(need: ColumnNeed): number {
  return Math.max(need.header, need.cells);
}

function widestAbove(floor: readonly number[], widths: readonly number[]): number | undefined {
  let best: number | undefined;
  for (const [index, width] of widths.entries()) {
    if (width > (floor[index] ?? 0) && (best === undefined || width > (widths[best] ?? 0))) best = index;
  }
  return best;
}
