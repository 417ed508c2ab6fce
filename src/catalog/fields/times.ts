import { describe, fail, type Kind, type ReadContext, type WallClock } from './kind.ts';

/** A calendar date `YYYY-MM-DD` that exists. */
export function date(): Kind<string> {
  return {
    name: 'date',
    schema: { type: 'string', format: 'date' },
    read(input, at, context) {
      if (typeof input !== 'string') {
        return fail(context, 'field.type', at, `${at} must be a string, not ${describe(input)}.`);
      }
      const value = input.trim();
      return isDate(value)
        ? value
        : fail(context, 'field.format', at, `${at} must be a date that exists, written YYYY-MM-DD.`);
    },
    fromText: (flag) => flag,
  };
}

/** An instant, emitted as `YYYY-MM-DDTHH:mm:ss.SSSZ`; read with a zone, an offset or none (D7). */
export function dateTime(): Kind<string> {
  return {
    name: 'dateTime',
    schema: { type: 'string', format: 'date-time' },
    read(input, at, context) {
      if (typeof input !== 'string') {
        return fail(context, 'field.type', at, `${at} must be a string, not ${describe(input)}.`);
      }
      if (isCanonical(input)) return input;
      const instant = parseInstant(input.trim(), context);
      if (instant === undefined || (instant !== 'unresolved' && instant >= LAST_INSTANT + 1)) {
        return fail(context, 'field.format', at, `${at} must be an ISO 8601 date-time, such as 2026-03-02T14:30:00Z.`);
      }
      return instant === 'unresolved' ? input.trim() : formatInstant(Math.floor(instant));
    },
    wire: (value) => wireInstant(value),
    fromText: (flag) => flag,
  };
}

/** `HH:mm`, 00:00 to 23:59, or 24:00, the end of a day. */
export function timeOfDay(): Kind<string> {
  return {
    name: 'timeOfDay',
    schema: { type: 'string', pattern: '^([01]\\d|2[0-3]):[0-5]\\d$|^24:00$' },
    read(input, at, context) {
      if (typeof input === 'string' && /^(([01]\d|2[0-3]):[0-5]\d|24:00)$/.test(input.trim())) return input.trim();
      return fail(context, 'field.format', at, `${at} must be a time of day, written HH:mm.`);
    },
    fromText: (flag) => flag,
  };
}

/** An IANA time zone name. */
export function timeZone(): Kind<string> {
  return {
    name: 'timeZone',
    schema: { type: 'string' },
    read(input, at, context) {
      const name = typeof input === 'string' ? input.trim() : '';
      return isTimeZone(name)
        ? name
        : fail(context, 'field.format', at, `${at} must be an IANA time zone, such as America/Denver.`);
    },
    fromText: (flag) => flag,
  };
}

export function isTimeZone(name: string): boolean {
  // Offsets such as +05:00 are accepted by Intl but are no IANA zones.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const DATE = /^\d{4}-\d\d-\d\d$/;

export function isDate(value: string): boolean {
  return DATE.test(value) && beginsWithDate(value);
}

/** Whether the digits at the beginning of a text, written as those of a date, are of one that exists. */
function beginsWithDate(text: string): boolean {
  const two = (at: number) => (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO;
  return exists(two(0) * 100 + two(2), two(5), two(8));
}

const ZERO = '0'.charCodeAt(0);

const CANONICAL = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Whether a date-time is written already as it is emitted: then it is its own value. */
function isCanonical(value: string): boolean {
  return CANONICAL.test(value) && beginsWithDate(value);
}

function exists(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  if (month !== 2) return day <= (SHORT_MONTHS.includes(month) ? 30 : 31);
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return day <= (leap ? 29 : 28);
}

/** April, June, September, November. */
const SHORT_MONTHS = [4, 6, 9, 11];

// A `+` in a query arrives as a space, both as separator and as the sign of an offset (D7).
const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[T +](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+\- ]\d{2}:?\d{2})?$/i;

/**
 * UTC milliseconds (and a half where finer digits were given), undefined for text that is no date-time, and
 * `unresolved` for a time without a zone when the context knows none.
 */
export function parseInstant(
  value: string,
  context: Pick<ReadContext, 'instantOf'>,
): number | 'unresolved' | undefined {
  const match = DATE_TIME.exec(value);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second = '0', fraction = '0', zone] = match;
  const wall: WallClock = {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    millisecond: Number(fraction.slice(0, 3).padEnd(3, '0')),
  };
  if (!exists(wall.year, wall.month, wall.day) || wall.hour > 23 || wall.minute > 59 || wall.second > 59)
    return undefined;
  // Half a millisecond stands for any finer digits: a nanosecond would be lost in a number of this size.
  const finer = /[1-9]/.test(fraction.slice(3)) ? 0.5 : 0;
  if (zone === undefined) return context.instantOf ? context.instantOf(wall) + finer : 'unresolved';
  const offset = offsetMinutes(zone);
  if (offset === undefined) return undefined;
  return utcMilliseconds(wall) - offset * 60_000 + finer;
}

/**
 * What the clock shows in a date-time that names its own offset, as UTC milliseconds of the same digits; undefined for
 * one in `Z`, which says nothing of a clock, for one without a zone, and for other text.
 */
export function writtenWall(value: string): number | undefined {
  // Shorter text is a date and a time alone, whose minutes look like an offset after a space.
  const wall = /^(.{16,}?)[+\- ]\d{2}:?\d{2}$/.exec(value)?.[1];
  const shown = wall === undefined ? undefined : parseInstant(`${wall}Z`, {});
  return typeof shown === 'number' ? Math.floor(shown) : undefined;
}

/** UTC milliseconds of a wall-clock time read as UTC; right for the years 1 to 99 too. */
export function utcMilliseconds(wall: WallClock): number {
  const at = new Date(0);
  at.setUTCFullYear(wall.year, wall.month - 1, wall.day);
  at.setUTCHours(wall.hour, wall.minute, wall.second, wall.millisecond);
  return at.getTime();
}

/** UTC milliseconds of the last instant that has a year of four digits; later ones would not sort as text. */
export const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

export function formatInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** UTC milliseconds of the first instant that `parseInstant` takes. */
export const FIRST_INSTANT = Date.parse('0001-01-01T00:00:00Z');

/** An instant as it is sent: like `formatInstant`, but milliseconds only where there are any (D50). */
function wireInstant(instant: string): string {
  return instant.replace(/\.000Z$/, 'Z');
}

function offsetMinutes(zone: string): number | undefined {
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
