import { banded, PLAIN, type Style } from '../output/style.ts';
import { GAP, tableWidths } from '../output/table.ts';
import { displayWidth, fitText, terminalText } from '../output/terminaltext.ts';

/** A column of a table for people, its cells already text. */
export interface ReportColumn {
  readonly title: string;
  /** Numbers and money stand at the right. */
  readonly align: 'left' | 'right';
  /** Its cells are never cut: ids, times and money. */
  readonly isWhole: boolean;
  /** Columns of lower rank are left out before this one gets narrower; the width of its title when not given. */
  readonly least?: number;
  /** Where the terminal is too narrow, columns of the lowest rank are left out first; never one without a rank. */
  readonly rank?: number;
  readonly cells: readonly string[];
}

export interface ReportLook {
  /** Columns of the terminal; undefined where there is none. */
  readonly width: number | undefined;
  readonly header: boolean;
  readonly indent?: string;
  /** Plain where not given; otherwise the header stands out and every second line is faint. */
  readonly style?: Style;
  /** The last line is a total, which stands out. */
  readonly hasTotal?: boolean;
}

export interface ReportTable {
  /** Lines, each with its line feed. */
  readonly text: string;
  /** Titles of columns that were left out. */
  readonly hidden: readonly string[];
}

/** A table of at most `width` columns of the terminal, where there is one; blanks at the ends of lines are left out. */
export function reportTable(columns: readonly ReportColumn[], options: ReportLook): ReportTable {
  const { indent = '', style = PLAIN, hasTotal = false } = options;
  const width = (options.width ?? Number.POSITIVE_INFINITY) - indent.length;
  const kept = fitting(columns, width);
  const needs = kept.map(needOf);
  const widths = kept.length === 0 ? [] : tableWidths(needs, width);
  // Columns that have no rank stay, even when the line is then longer than the terminal.
  const laid = kept.map((column, at) => ({ column, width: widths[at] ?? naturalWidth(column) }));
  const line = (cell: (each: LaidOut) => string) => (indent + laid.map(cell).join(' '.repeat(GAP))).trimEnd();
  const rows = Math.max(0, ...columns.map(({ cells }) => cells.length));
  const titles = style(
    'heading',
    line((each) => padded(each.column.title, each)),
  );
  const rule = style(
    'faint',
    line((each) => '─'.repeat(each.width)),
  );
  const body = Array.from({ length: rows }, (_, row) => {
    const text = line((each) => padded(terminalText(each.column.cells[row] ?? ''), each));
    return hasTotal && row === rows - 1 ? `${style('heading', text)}\n` : banded(text, row, style);
  });
  return {
    text: (options.header ? `${titles}\n${rule}\n` : '') + body.join(''),
    hidden: columns.filter((column) => !kept.includes(column)).map(({ title }) => title),
  };
}

function fitting(columns: readonly ReportColumn[], width: number): readonly ReportColumn[] {
  const kept = [...columns];
  while (!isRoomy(kept, width)) {
    const ranks = kept.map(({ rank }) => rank ?? Number.POSITIVE_INFINITY);
    const lowest = Math.min(...ranks);
    if (lowest === Number.POSITIVE_INFINITY) break;
    kept.splice(ranks.indexOf(lowest), 1);
  }
  return kept;
}

function isRoomy(columns: readonly ReportColumn[], width: number): boolean {
  const widths = tableWidths(columns.map(needOf), width);
  return columns.every((column, at) => {
    const wanted = Math.min(naturalWidth(column), column.least ?? displayWidth(column.title));
    return (widths[at] ?? 0) >= wanted;
  });
}

function needOf(column: ReportColumn) {
  // Titles of numbers are not cut either: half of `31-60` would mislead.
  const cells = column.isWhole ? naturalWidth(column) : cellsWidth(column);
  return { header: displayWidth(column.title), cells, isId: column.isWhole };
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
  return column.align === 'right' ? blanks + fitted : fitted + blanks;
}
