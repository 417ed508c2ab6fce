import { isDate } from '../../catalog/fields/times.ts';
import { type Column, cellText } from './columns.ts';
import { type LocalClock, secondText } from './localclock.ts';

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
