import type Table from 'cli-table3';
import type { Row } from '../pages/walk.ts';
import { BARE_TABLE } from './baretable.ts';
import { type Column, cellText, valueAt } from './columns.ts';
import type { Formatter } from './format.ts';
import { compareRows, type SortOrder } from './sort.ts';
import { tableWidths } from './tablewidths.ts';
import { displayWidth, fitText, terminalText } from './terminaltext.ts';

type TableClass = typeof Table;

export interface TableOptions {
  /** Columns of the terminal; undefined where there is none: then nothing is cut. */
  readonly width: number | undefined;
  readonly header: boolean;
  readonly sort?: SortOrder | undefined;
  /** Told the names of the columns that did not fit. */
  readonly onHidden?: (names: readonly string[]) => void;
}

/**
 * A table for people. Widths follow the first page and are kept, so that pages can be written as they come; sorting
 * holds every record back to the end. `CliTable` is the class of cli-table3, loaded by whoever needs a table.
 */
export function tableFormatter(CliTable: TableClass, columns: readonly Column[], options: TableOptions): Formatter {
  let layout: Layout | undefined;
  const held: Row[] = [];
  const draw = (rows: readonly Row[]) => {
    const first = layout === undefined;
    layout ??= layOut(rows, columns, options);
    return layout.draw(CliTable, rows, first && options.header);
  };
  const { sort } = options;
  return {
    begin: () => '',
    rows: (rows) => {
      if (sort === undefined) return draw(rows);
      for (const row of rows) held.push(row);
      return '';
    },
    end: () => {
      if (sort !== undefined && held.length > 0) return draw(held.sort(compareRows(sort)));
      return layout === undefined ? draw([]) : '';
    },
  };
}

interface Layout {
  readonly draw: (CliTable: TableClass, rows: readonly Row[], header: boolean) => string;
}

function layOut(rows: readonly Row[], columns: readonly Column[], options: TableOptions): Layout {
  const cells = rows.map((row) => columns.map((column) => shown(row, column)));
  const needs = columns.map((column, index) => ({
    header: displayWidth(column.name),
    cells: widest(cells, index, 0),
    isId: column.isId,
  }));
  const widths = tableWidths(needs, options.width ?? Number.POSITIVE_INFINITY);
  const kept = columns.slice(0, widths.length);
  if (kept.length < columns.length) options.onHidden?.(columns.slice(kept.length).map((column) => column.name));
  const right = kept.map((column) => !column.isId && rows.some((row) => typeof valueAt(row, column) === 'number'));
  return {
    draw(CliTable, page, header) {
      const lines = page.map((row) => kept.map((column) => shown(row, column)));
      const cut = options.width === undefined ? widths.map((width, at) => widest(lines, at, width)) : widths;
      const head = kept.map((column) => column.name);
      const all = header ? [head, cut.map((width) => '─'.repeat(width)), ...lines] : lines;
      return drawLines(CliTable, all, cut, right, kept);
    },
  };
}

function widest(lines: readonly (readonly string[])[], at: number, least: number): number {
  return lines.reduce((most, line) => Math.max(most, displayWidth(line[at] ?? '')), least);
}

function drawLines(
  CliTable: TableClass,
  lines: readonly (readonly string[])[],
  widths: readonly number[],
  right: readonly boolean[],
  columns: readonly Column[],
): string {
  if (lines.length === 0) return '';
  const table = new CliTable({
    ...BARE_TABLE,
    colAligns: right.map((numeric) => (numeric ? 'right' : 'left')),
  });
  for (const line of lines) {
    table.push(
      line.map((text, at) => (columns[at]?.isId && text !== columns[at]?.name ? text : fitText(text, widths[at] ?? 0))),
    );
  }
  // Blanks up to the edge would wrap on a terminal that is exactly as wide.
  return `${table.toString().replace(/ +$/gm, '')}\n`;
}

function shown(row: Row, column: Column): string {
  return terminalText(cellText(valueAt(row, column)));
}
