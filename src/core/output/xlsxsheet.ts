import { isDate } from '../../catalog/fields/times.ts';
import { localFailure } from '../failure.ts';
import type { Row } from '../pages/page.ts';
import { type Column, cellText, valueAt } from './columns.ts';
import { type LocalClock, secondText } from './localclock.ts';
import type { Formatter } from './writepages.ts';

/** Maximum rows of a sheet, including the header. */
export const MAX_SHEET_ROWS = 1_048_576;
/** Maximum characters of a cell. */
const MAX_CELL_TEXT = 32_767;
/** Rows that determine the widths of the columns, which a sheet has before its rows. */
const MEASURED_ROWS = 500;
const MAX_WIDTH = 60;

/**
 * The XML of a sheet, row by row: bold header that stays in sight, filter buttons, widths from the first 500 rows.
 * Columns of date-times name their zone in the header. Throws a Failure for more rows or longer text than a sheet can
 * hold.
 */
export function sheetFormatter(
  columns: readonly Column[],
  { header, clock }: { readonly header: boolean; readonly clock: LocalClock },
): Formatter {
  const letters = columns.map((_, at) => columnLetters(at));
  // Room for the filter button beside the name.
  const widths = columns.map((column) => (header ? titleOf(column, clock).length + 3 : 0));
  let count = header ? 1 : 0;
  /** Rows buffered until the widths are known. */
  let buffered: string[] | undefined = [];
  const rowXml = (row: Row): string => {
    count++;
    if (count > MAX_SHEET_ROWS) throw tooMany(header ? MAX_SHEET_ROWS - 1 : MAX_SHEET_ROWS);
    let cells = '';
    for (const [at, column] of columns.entries()) {
      const cell = cellOf(valueAt(row, column), column, clock);
      if (cell === undefined) continue;
      if (cell.width > MAX_CELL_TEXT) throw tooLong(column, row);
      if (buffered !== undefined) widths[at] = Math.max(widths[at] ?? 0, cell.width);
      cells += cellXml(`${letters[at]}${count}`, cell);
    }
    return `<row r="${count}">${cells}</row>`;
  };
  /** Everything up to the buffered rows, and those; nothing from the second call on. */
  const flush = (): string => {
    if (buffered === undefined) return '';
    const rows = buffered.join('');
    buffered = undefined;
    const titles = columns.map((column, at) =>
      cellXml(`${letters[at]}1`, { value: titleOf(column, clock), style: STYLE.header, width: 0 }),
    );
    return `${sheetHead(widths, header)}${header ? `<row r="1">${titles.join('')}</row>` : ''}${rows}`;
  };
  return {
    begin: () => '',
    rows: (rows) => {
      const text = rows.map(rowXml).join('');
      if (buffered === undefined) return text;
      buffered.push(text);
      return count < MEASURED_ROWS ? '' : flush();
    },
    end: () => {
      const range = `A1:${letters.at(-1) ?? 'A'}${Math.max(1, count)}`;
      const filter = header && letters.length > 0 ? `<autoFilter ref="${range}"/>` : '';
      const ignored = `<ignoredErrors><ignoredError sqref="${range}" numberStoredAsText="1"/></ignoredErrors>`;
      return `${flush()}</sheetData>${filter}${ignored}</worksheet>`;
    },
  };
}

function sheetHead(widths: readonly number[], header: boolean): string {
  const pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
  const selection = '<selection pane="bottomLeft" activeCell="A2" sqref="A2"/>';
  const columns = widths.map((characters, at) => {
    const width = Math.min(MAX_WIDTH, Math.max(6, characters) + 2);
    return `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n',
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">',
    `<sheetViews><sheetView workbookViewId="0">${header ? pane + selection : ''}</sheetView></sheetViews>`,
    columns.length > 0 ? `<cols>${columns.join('')}</cols>` : '',
    '<sheetData>',
  ].join('');
}

function titleOf({ name, kind }: Column, { zone }: LocalClock): string {
  return kind === 'dateTime' ? `${name} (${zone})` : name;
}

function cellXml(at: string, { value, style }: Cell): string {
  const start = `<c r="${at}"${style === STYLE.plain ? '' : ` s="${style}"`}`;
  if (typeof value === 'number') return `${start}><v>${value}</v></c>`;
  if (typeof value === 'boolean') return `${start} t="b"><v>${Number(value)}</v></c>`;
  return `${start} t="inlineStr"><is><t xml:space="preserve">${xmlText(value)}</t></is></c>`;
}

function tooMany(most: number) {
  return localFailure('local.file', `A spreadsheet holds ${most.toLocaleString('en-US')} rows, and there are more.`, {
    hint: 'Nothing was written. Use --format csv, or select fewer records: --limit N, or a filter.',
  });
}

function tooLong(column: Column, row: Row) {
  const which = row.id === undefined ? '' : ` of record ${String(row.id)}`;
  return localFailure(
    'local.file',
    `A spreadsheet's cell holds 32,767 characters, and ${column.name}${which} has more.`,
    {
      hint: 'Nothing was written. Use --format csv, or leave the field out with --fields.',
    },
  );
}

/** Indexes of the cell styles in the style sheet of a workbook. */
const STYLE = { plain: 0, header: 1, date: 2, dateTime: 3, dollars: 4, text: 5 } as const;

/** One cell: its value, its style, and how many characters it takes. */
interface Cell {
  /** A string is text, never a formula. */
  readonly value: string | number | boolean;
  readonly style: number;
  readonly width: number;
}

const NUMBERS: Readonly<Record<string, number>> = {
  integer: STYLE.plain,
  number: STYLE.plain,
  dollars: STYLE.dollars,
};

/** Above it a spreadsheet rounds, which keeps 15 digits: such a number is text. */
const MAX_NUMBER = 999_999_999_999_999;

/**
 * The cell of a value, undefined for none: dates, and date-times by the clock, as days since 1899-12-30, numbers as
 * numbers, and all else as text, ids too. Dates before March 1900, which spreadsheets count wrong, stay text; so does a
 * date-time in an hour that the clock shows twice, with its offset.
 */
function cellOf(value: unknown, column: Column, clock: LocalClock): Cell | undefined {
  const text = cellText(value);
  if (text === '') return undefined;
  const kind = column.kind ?? '';
  if (column.isId) return textCell(text);
  if (typeof value === 'boolean') return { value, style: STYLE.plain, width: 5 };
  if (typeof value === 'number' && kind in NUMBERS && Math.abs(value) <= MAX_NUMBER) {
    return { value, style: NUMBERS[kind] ?? STYLE.plain, width: text.length + (kind === 'dollars' ? 5 : 0) };
  }
  if (typeof value === 'string' && (kind === 'date' || kind === 'dateTime')) {
    const days = daysOf(value, kind, clock);
    if (days !== undefined) return { value: days, style: STYLE[kind], width: kind === 'date' ? 10 : 19 };
  }
  return textCell(kind === 'dateTime' ? secondText(text, clock) : text);
}

function textCell(text: string): Cell {
  return { value: text, style: STYLE.text, width: text.length };
}

const DAY = 86_400_000;
/** 1970-01-01. */
const EPOCH = 25_569;
/** 1900-03-01, the first day after the 29 February 1900 that spreadsheets believe in. */
const FIRST = 61;

/** Days since 1899-12-30 of a date or an instant; undefined for other text, and for what spreadsheets would show wrong. */
function daysOf(text: string, kind: 'date' | 'dateTime', clock: LocalClock): number | undefined {
  const local = kind === 'date' ? undefined : clock.at(text);
  const wall = kind === 'date' ? (isDate(text) ? Date.parse(text) : undefined) : local?.wall;
  if (wall === undefined || (local !== undefined && local.offset !== '')) return undefined;
  const days = wall / DAY + EPOCH;
  return days < FIRST ? undefined : days;
}

/** Name of a column by its index from 0: `A`, `Z`, `AA`. */
export function columnLetters(at: number): string {
  const rest = Math.floor(at / 26);
  return (rest > 0 ? columnLetters(rest - 1) : '') + String.fromCharCode(65 + (at % 26));
}

/**
 * Text for XML 1.0: what it cannot hold is removed, and what a spreadsheet would read as one of its own escapes
 * (`_x0041_`) is escaped. Line ends become line feeds, as XML readers make them anyway.
 */
export function xmlText(text: string): string {
  return (
    text
      .replace(/\r\n?/g, '\n')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
      .replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '')
      .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
  );
}
