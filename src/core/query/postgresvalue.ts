import { type QueryValue, wholeNumber } from './result.ts';

/** Numbers of types (`pg_type`). */
const BOOLEAN = 16;
const BYTES = 17;
const INTEGERS = [20, 21, 23, 26];
const FLOATS = [700, 701];
const NUMERIC = 1700;
const INSTANT = 1184;

/**
 * A value of PostgreSQL, by its text and the number of its type: whole numbers exact, other numbers as near as a
 * double is, instants as in the API, UTC, and everything of other types as text.
 */
export function postgresValue(text: string | null, type: number): QueryValue {
  if (text === null) return null;
  if (type === BOOLEAN) return text === 't';
  if (INTEGERS.includes(type)) return wholeNumber(BigInt(text));
  if (FLOATS.includes(type)) return finite(Number(text), text);
  if (type === NUMERIC) return numeric(text);
  if (type === BYTES) return Buffer.from(text.slice(2), 'hex').toString('base64');
  return type === INSTANT ? instant(text) : text;
}

function numeric(text: string): QueryValue {
  const [, whole] = /^(-?\d+)(?:\.0+)?$/.exec(text) ?? [];
  if (whole !== undefined) return wholeNumber(BigInt(whole));
  return finite(Number(text), text);
}

function finite(number: number, text: string): QueryValue {
  return Number.isFinite(number) ? number : text;
}

/** `2026-01-05 15:00:00.12+00` is `2026-01-05T15:00:00.120Z`; what has microseconds keeps them. */
function instant(text: string): string {
  const [, day, time, fraction = '', era] = /^(\d{4,}-\d\d-\d\d) ([\d:]{8})(?:\.(\d+))?\+00(.*)$/.exec(text) ?? [];
  return day === undefined || era !== '' ? text : `${day}T${time}.${fraction.padEnd(3, '0')}Z`;
}
