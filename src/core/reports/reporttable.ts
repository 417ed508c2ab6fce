import { banded, PLAIN, type Style } from '../output/style.ts';
import { GAP, tableWidths } from '../output/table.ts';
import { displayWidth, fitText, terminalText } from '../output/terminaltext.ts';

/** A column of a table for people, its cells already text. */
export interface ReportColumn {
  readonly title: string;
  /** Aligned right: numbers and money. */
  readonly isRight?: boolean;
  /** Its cells may be truncated; those of ids, times and money never are. */
  readonly isTruncated?: boolean;
  /** Columns of lower rank are dropped before this one gets narrower; the width of its title when not given. */
  readonly minWidth?: number;
  /** Where the terminal is too narrow, columns of the lowest rank are dropped first; never one without a rank. */
  readonly rank?: number;
  readonly cells: readonly string[];
}

/** Makes columns over the same entries, with a cell for each. */
export function columnsOver<T>(entries: readonly T[]) {
  return (
    title: string,
    cell: (entry: T) => string,
    more: Omit<ReportColumn, 'title' | 'cells'> = {},
  ): ReportColumn => ({ title, ...more, cells: entries.map(cell) });
}

/** Form of a table for people. */
export interface ReportLook {
  /** Columns of the terminal; undefined where there is none. */
  readonly width: number | undefined;
  readonly header: boolean;
  readonly indent?: string;
  /** Plain where not given; otherwise the header is bold and every second line is faint. */
  readonly style?: Style;
  /** The last line is a total, which is bold. */
  readonly hasTotal?: boolean;
}

/** A table as text. */
export interface ReportTable {
  /** Lines, each with its line feed. */
  readonly text: string;
  /** Titles of columns that were dropped. */
  readonly hidden: readonly string[];
}

/** A table of at most `width` columns of the terminal, where there is one; without trailing blanks. */
export function reportTable(columns: readonly ReportColumn[], options: ReportLook): ReportTable {
  const { indent = '', style = PLAIN, hasTotal = false } = options;
  const width = (options.width ?? Number.POSITIVE_INFINITY) - indent.length;
  const shown = fitting(columns, width);
  const widths = shown.length === 0 ? [] : tableWidths(shown.map(needOf), width);
  // Columns that have no rank stay, even when the line is then longer than the terminal.
  const laid = shown.map((column, at) => ({ column, width: widths[at] ?? naturalWidth(column) }));
  const line = (cell: (each: LaidOut) => string) => (indent + laid.map(cell).join(' '.repeat(GAP))).trimEnd();
  const rows = Math.max(0, ...columns.map(({ cells }) => cells.length));
  const titles = line((each) => padded(each.column.title, each));
  const rule = line((each) => '─'.repeat(each.width));
  const body = Array.from({ length: rows }, (_, row) => {
    const text = line((each) => padded(terminalText(each.column.cells[row] ?? ''), each));
    return hasTotal && row === rows - 1 ? `${style('heading', text)}\n` : banded(text, row, style);
  });
  return {
    text: (options.header ? `${style('heading', titles)}\n${style('faint', rule)}\n` : '') + body.join(''),
    hidden: columns.filter((column) => !shown.includes(column)).map(({ title }) => title),
  };
}

function fitting(columns: readonly ReportColumn[], width: number): readonly ReportColumn[] {
  const shown = [...columns];
  while (!isRoomy(shown, width)) {
    const ranks = shown.map(({ rank }) => rank ?? Number.POSITIVE_INFINITY);
    const lowest = Math.min(...ranks);
    if (lowest === Number.POSITIVE_INFINITY) break;
    shown.splice(ranks.indexOf(lowest), 1);
  }
  return shown;
}

function isRoomy(columns: readonly ReportColumn[], width: number): boolean {
  const widths = tableWidths(columns.map(needOf), width);
  return columns.every((column, at) => {
    const wanted = Math.min(naturalWidth(column), column.minWidth ?? displayWidth(column.title));
    return (widths[at] ?? 0) >= wanted;
  });
}

function needOf(column: ReportColumn) {
  // Titles of numbers are not truncated either: half of `31-60` would mislead.
  const isId = column.isTruncated !== true;
  return { header: displayWidth(column.title), cells: isId ? naturalWidth(column) : cellsWidth(column), isId };
}

function cellsWidth({ cells }: ReportColumn): number {
  return cells.reduce((most, cell) => Math.max(most, displayWidth(terminalText(cell))), 0);
}

function naturalWidth(column: ReportColumn): number {
  return Math.max(displayWidth(column.title), cellsWidth(column));
}

interface LaidOut {
  readonly column: ReportColumn;
  readonly width: number;
}

function padded(text: string, { column, width }: LaidOut): string {
  const fitted = fitText(text, width);
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(fitted)));
  return column.isRight ? blanks + fitted : fitted + blanks;
}
