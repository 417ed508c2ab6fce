import { isDate } from '../../catalog/fields/times.ts';
import { localFailure } from '../failure.ts';
import type { Row } from '../pages/page.ts';
import { type Column, cellText, valueAt } from './columns.ts';
import { type LocalClock, secondText } from './localclock.ts';
import type { Formatter } from './writepages.ts';

/** Lines of a sheet, the header's with them. */
export const MOST_LINES = 1_048_576;
/** Characters of a cell. */
const MOST_TEXT = 32_767;
/** Rows that tell how wide the columns are: widths stand in front of the rows in a sheet. */
const MEASURED = 500;
const WIDEST = 60;

/**
 * The XML of a sheet, row by row: bold header that stays in sight, filter buttons, widths from the first 500 rows.
 * Columns of date-times name their zone in the header. Throws a Failure for more rows or longer text than a sheet can hold.
 */
export function sheetFormatter(
  columns: readonly Column[],
  options: { readonly header: boolean; readonly clock: LocalClock },
): Formatter {
  const sheet = new Sheet(columns, options.header, options.clock);
  return { begin: () => '', rows: (rows) => sheet.rows(rows), end: () => sheet.end() };
}

class Sheet {
  private readonly columns: readonly Column[];
  private readonly letters: readonly string[];
  private readonly header: boolean;
  private readonly clock: LocalClock;
  private readonly widths: number[];
  private lines: number;
  /** Lines that wait until the widths are known. */
  private waiting: string[] | undefined = [];

  constructor(columns: readonly Column[], header: boolean, clock: LocalClock) {
    this.columns = columns;
    this.clock = clock;
    this.letters = columns.map((_, at) => columnLetters(at));
    this.header = header;
    this.lines = header ? 1 : 0;
    // Room for the filter button beside the name.
    this.widths = columns.map((column) => (header ? titleOf(column, clock).length + 3 : 0));
  }

  rows(rows: readonly Row[]): string {
    const text = rows.map((row) => this.line(row)).join('');
    if (this.waiting === undefined) return text;
    this.waiting.push(text);
    return this.lines < MEASURED ? '' : this.begun();
  }

  end(): string {
    const { letters, header, lines } = this;
    const range = `A1:${letters.at(-1) ?? 'A'}${Math.max(1, lines)}`;
    const filter = header && letters.length > 0 ? `<autoFilter ref="${range}"/>` : '';
    const ignored = `<ignoredErrors><ignoredError sqref="${range}" numberStoredAsText="1"/></ignoredErrors>`;
    return `${this.begun()}</sheetData>${filter}${ignored}</worksheet>`;
  }

  /** Everything up to the rows that waited, and those; nothing from the second call on. */
  private begun(): string {
    if (this.waiting === undefined) return '';
    const waiting = this.waiting.join('');
    this.waiting = undefined;
    return this.head() + waiting;
  }

  private head(): string {
    const pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
    const selection = '<selection pane="bottomLeft" activeCell="A2" sqref="A2"/>';
    const widths = this.widths.map((characters, at) => {
      const width = Math.min(WIDEST, Math.max(6, characters) + 2);
      return `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`;
    });
    const titles = this.columns.map((column, at) =>
      cellXml(`${this.letters[at]}1`, { value: titleOf(column, this.clock), style: STYLE.header, width: 0 }),
    );
    return [
      '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n',
      '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">',
      `<sheetViews><sheetView workbookViewId="0">${this.header ? pane + selection : ''}</sheetView></sheetViews>`,
      widths.length > 0 ? `<cols>${widths.join('')}</cols>` : '',
      '<sheetData>',
      this.header ? `<row r="1">${titles.join('')}</row>` : '',
    ].join('');
  }

  private line(row: Row): string {
    this.lines++;
    if (this.lines > MOST_LINES) throw tooMany(this.header ? MOST_LINES - 1 : MOST_LINES);
    let cells = '';
    for (const [at, column] of this.columns.entries()) {
      const cell = cellOf(valueAt(row, column), column, this.clock);
      if (cell === undefined) continue;
      if (cell.width > MOST_TEXT) throw tooLong(column, row);
      if (this.waiting !== undefined) this.widths[at] = Math.max(this.widths[at] ?? 0, cell.width);
      cells += cellXml(`${this.letters[at]}${this.lines}`, cell);
    }
    return `<row r="${this.lines}">${cells}</row>`;
  }
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
    hint: 'Nothing was kept. Use --format csv, or take a part: --limit N, or a filter.',
  });
}

function tooLong(column: Column, row: Row) {
  const which = row.id === undefined ? '' : ` of record ${String(row.id)}`;
  return localFailure(
    'local.file',
    `A spreadsheet's cell holds 32,767 characters, and ${column.name}${which} has more.`,
    {
      hint: 'Nothing was kept. Use --format csv, or leave the field out with --fields.',
    },
  );
}

/** Places of the cell styles in the style sheet of a workbook. */
export const STYLE = { plain: 0, header: 1, date: 2, dateTime: 3, dollars: 4, text: 5 } as const;

/** One cell: what stands in it, its style, and how many characters it takes. */
export interface Cell {
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

/**
 * The cell of a value, undefined for none: dates, and date-times by the clock, as days since 1899-12-30, numbers as
 * numbers, and all else as text, ids too. Dates before March 1900, which spreadsheets count wrong, stay text; so does a
 * date-time in an hour that the clock shows twice, with its offset.
 */
export function cellOf(value: unknown, column: Column, clock: LocalClock): Cell | undefined {
  const text = cellText(value);
  if (text === '') return undefined;
  const kind = column.kind ?? '';
  if (column.isId) return textCell(text);
  if (typeof value === 'boolean') return { value, style: STYLE.plain, width: 5 };
  if (typeof value === 'number' && kind in NUMBERS) {
    return { value, style: NUMBERS[kind] ?? STYLE.plain, width: text.length + (kind === 'dollars' ? 5 : 0) };
  }
  if (typeof value === 'string' && (kind === 'date' || kind === 'dateTime')) {
    const days = kind === 'date' ? daysOfDate(value) : daysOfInstant(value, clock);
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

function daysOfDate(text: string): number | undefined {
  return isDate(text) ? daysOf(Date.parse(text)) : undefined;
}

function daysOfInstant(text: string, clock: LocalClock): number | undefined {
  const local = clock.at(text);
  return local === undefined || local.offset !== '' ? undefined : daysOf(local.wall);
}

/** Days since 1899-12-30 of a local date and time, given as UTC milliseconds of the same digits. */
function daysOf(wall: number): number | undefined {
  const days = wall / DAY + EPOCH;
  return days < FIRST ? undefined : days;
}

/** Name of a column by its place from 0: `A`, `Z`, `AA`. */
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
