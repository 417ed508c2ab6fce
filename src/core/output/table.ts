import type { Row } from '../pages/walk.ts';
import { type Column, cellText, valueAt } from './columns.ts';
import type { Formatter } from './format.ts';
import { compareRows, type SortOrder } from './sort.ts';
import { GAP, tableWidths } from './tablewidths.ts';
import { displayWidth, fitText, terminalText } from './terminaltext.ts';

export interface TableOptions {
  /** Columns of the terminal; undefined where there is none: then nothing is cut. */
  readonly width: number | undefined;
  readonly header: boolean;
  readonly sort?: SortOrder | undefined;
  /** Told the names of the columns that did not fit. */
  readonly onHidden?: (names: readonly string[]) => void;
}

/**
 * A table for people: one line a record, columns apart by a gap. Widths follow the first page and are kept, so that
 * pages can be written as they come; sorting holds every record back to the end.
 */
export function tableFormatter(columns: readonly Column[], options: TableOptions): Formatter {
  const { sort, header } = options;
  let layout: Layout | undefined;
  const held: Row[] = [];
  const draw = (rows: readonly Row[]) => {
    const isFirst = layout === undefined;
    layout ??= layOut(rows, columns, options);
    return (isFirst && header ? headerLines(layout) : '') + rows.map((row) => rowLine(row, layout)).join('');
  };
  return {
    begin: () => '',
    rows: (rows) => {
      if (sort === undefined) return draw(rows);
      for (const row of rows) held.push(row);
      return '';
    },
    end: () => (held.length > 0 || layout === undefined ? draw(sort ? held.sort(compareRows(sort)) : held) : ''),
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
    cells: rows.reduce((most, row) => Math.max(most, displayWidth(shown(row, column))), 0),
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

function headerLines(layout: Layout): string {
  const names = layout.map(({ column, width, isRight }) => padded(fitText(column.name, width), width, isRight));
  return line(names) + line(layout.map(({ width }) => '─'.repeat(width)));
}

function rowLine(row: Row, layout: Layout = []): string {
  return line(
    layout.map(({ column, width, isRight, isCut }) => {
      const text = shown(row, column);
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
  return `${cells.join(' '.repeat(GAP)).trimEnd()}\n`;
}

function shown(row: Row, column: Column): string {
  return terminalText(cellText(valueAt(row, column)));
}
