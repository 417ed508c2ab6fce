import { isDate } from '../../catalog/fields/times.ts';
import { type LocalClock, secondText } from './localclock.ts';

/**
 * What a column of a sheet holds. `cents` are integers that become dollars; an `instant` is shown by a clock, `wall` is
 * a local time already (`YYYY-MM-DD HH:MM:SS`).
 */
export type SheetKind = 'text' | 'number' | 'dollars' | 'cents' | 'date' | 'instant' | 'wall';

/** Indexes of the cell styles in the style sheet of a workbook. */
export const STYLE = {
  plain: 0,
  header: 1,
  date: 2,
  dateTime: 3,
  dollars: 4,
  text: 5,
  title: 6,
  total: 7,
  totalDollars: 8,
} as const;

/** One cell: its value, its style, and how many characters it takes. */
export interface Cell {
  /** A string is text, never a formula. */
  readonly value: string | number | boolean;
  readonly style: number;
  readonly width: number;
}

/** Maximum characters of a cell. */
export const MAX_CELL_TEXT = 32_767;

/** Above it a spreadsheet rounds, which keeps 15 digits: such a number is text. */
export const MAX_NUMBER = 999_999_999_999_999;

/**
 * The cell of a value, undefined for none: dates and times as days since 1899-12-30, numbers as numbers, and all else
 * as text (D56). Dates before March 1900, which spreadsheets count wrong, stay text; so does a time in an hour
 * that the clock shows twice, with its offset.
 */
export function cellOf(value: unknown, kind: SheetKind, clock: LocalClock): Cell | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'boolean') return { value, style: STYLE.plain, width: 5 };
  if (typeof value === 'number') return numberCell(value, kind) ?? textCell(String(value));
  const text = String(value);
  const days = daysOf(text, kind, clock);
  if (days !== undefined) {
    return kind === 'date'
      ? { value: days, style: STYLE.date, width: 10 }
      : { value: days, style: STYLE.dateTime, width: 16 };
  }
  return textCell(kind === 'instant' ? secondText(text, clock) : text);
}

function numberCell(value: number, kind: SheetKind): Cell | undefined {
  if (Math.abs(value) > MAX_NUMBER) return undefined;
  if (kind === 'number') return { value, style: STYLE.plain, width: String(value).length };
  if (kind !== 'dollars' && kind !== 'cents') return undefined;
  const dollars = kind === 'cents' ? value / 100 : value;
  return { value: dollars, style: STYLE.dollars, width: String(dollars).length + 5 };
}

/** A cell of text, whatever it looks like. */
export function textCell(text: string, style: number = STYLE.text): Cell {
  return { value: text, style, width: text.length };
}

/** A cell as XML; `at` is its place, such as `B2`. */
export function cellXml(at: string, { value, style }: Cell): string {
  const start = `<c r="${at}"${style === STYLE.plain ? '' : ` s="${style}"`}`;
  if (typeof value === 'number') return `${start}><v>${value}</v></c>`;
  if (typeof value === 'boolean') return `${start} t="b"><v>${Number(value)}</v></c>`;
  return `${start} t="inlineStr"><is><t xml:space="preserve">${xmlText(value)}</t></is></c>`;
}

const DAY = 86_400_000;
/** 1970-01-01. */
const EPOCH = 25_569;
/** From a number of days to the next one, in our century. */
const NEXT = 2 ** -37;
/** 1900-03-01, the first day after the 29 February 1900 that spreadsheets believe in. */
const FIRST = 61;

/** A local time as a mirror's views write it. */
export const WALL_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

/** Days since 1899-12-30; undefined for what is no date or time, and for what spreadsheets would show wrong. */
function daysOf(text: string, kind: SheetKind, clock: LocalClock): number | undefined {
  const wall = wallOf(text, kind, clock);
  if (wall === undefined || Number.isNaN(wall)) return undefined;
  const days = wall / DAY + EPOCH;
  if (days < FIRST) return undefined;
  // The nearest number may be a moment earlier, and readers that cut would show the minute before.
  return (days - EPOCH) * DAY < wall ? days + NEXT : days;
}

/** What a clock shows, as UTC milliseconds of the same digits. */
function wallOf(text: string, kind: SheetKind, clock: LocalClock): number | undefined {
  if (kind === 'date') return isDate(text) ? Date.parse(text) : undefined;
  if (kind === 'wall') return WALL_TIME.test(text) ? Date.parse(`${text.replace(' ', 'T')}Z`) : undefined;
  const local = kind === 'instant' ? clock.at(text) : undefined;
  return local?.offset === '' ? local.wall : undefined;
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
