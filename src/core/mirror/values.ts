import type { WallClock } from '../../catalog/fields/kind.ts';
import { formatInstant, parseInstant } from '../../catalog/fields/times.ts';
import type { ColumnType } from './tables.ts';

/** A value as a database takes it; whole numbers beyond 2^53 are a bigint. */
export type StoredValue = string | number | bigint | null;

/** Reads a time without a zone: UTC milliseconds of a wall-clock time. */
export type InstantOf = (wall: WallClock) => number;

const MAX_INTEGER = 2n ** 63n - 1n;

/**
 * A wire value as its column holds it (D52); null for none. A service may send numbers and ids as text. What does
 * not have the form of its type stays as sent, so that nothing is lost or guessed.
 */
export function storedValue(type: ColumnType, value: unknown, instantOf: InstantOf): StoredValue {
  if (value === null || value === undefined) return null;
  switch (type) {
    case 'integer':
      return wholeNumber(value);
    case 'cents':
      return centsOf(value);
    case 'boolean':
      return typeof value === 'boolean' ? Number(value) : textOf(value);
    case 'instant':
      return instantText(value, instantOf);
    case 'date':
      return typeof value === 'string' && DATE_OF_INSTANT.test(value) ? value.slice(0, 10) : textOf(value);
    case 'number':
      return typeof value === 'boolean' ? Number(value) : wholeNumber(value);
    case 'json':
      return JSON.stringify(value);
    default:
      return textOf(value);
  }
}

const DATE_OF_INSTANT = /^\d{4}-\d\d-\d\dT/;

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function wholeNumber(value: unknown): StoredValue {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !/^-?\d{1,19}$/.test(value)) return textOf(value);
  const whole = Number(value);
  if (Number.isSafeInteger(whole)) return whole;
  const exact = BigInt(value);
  return exact <= MAX_INTEGER && exact >= -MAX_INTEGER ? exact : value;
}

/** Dollars below which a number tells tenths of a cent apart. */
const MAX_DOLLARS = 1e11;

const DECIMAL = /^(-?)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,3}))?$/;

/** Whole cents of an amount in dollars by its decimal digits, rounded half away from zero; other text as it is. */
function centsOf(value: unknown): StoredValue {
  if (typeof value === 'number' && Math.abs(value) < MAX_DOLLARS) {
    const cents = Math.round(value * 100);
    // It has no digits beyond cents; most amounts have none.
    if (cents / 100 === value) return cents;
  }
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return textOf(value);
  const [matched, sign, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text.trim()) ?? [];
  if (matched === undefined || whole + fraction === '') return text;
  // The point moves by the exponent, and by two for cents.
  const point = whole.length + Number(exponent) + 2;
  const digits = (whole + fraction).padEnd(Math.max(0, point), '0');
  const kept = point <= 0 ? '0' : digits.slice(0, point);
  const isUp = point >= 0 && (digits[point] ?? '0') >= '5';
  const cents = (BigInt(kept) + BigInt(isUp)) * (sign === '-' ? -1n : 1n);
  if (cents > MAX_INTEGER || cents < -MAX_INTEGER) return text;
  const number = Number(cents);
  return Number.isSafeInteger(number) ? number : cents;
}

const [T, Z, POINT] = ['T', 'Z', '.'].map((letter) => letter.charCodeAt(0));

function instantText(value: unknown, instantOf: InstantOf): string {
  if (typeof value !== 'string') return textOf(value);
  const isCanonical =
    value.length === 24 && value.charCodeAt(23) === Z && value.charCodeAt(10) === T && value.charCodeAt(19) === POINT;
  if (isCanonical) return value;
  const instant = parseInstant(value, { instantOf });
  return typeof instant === 'number' && !Number.isNaN(instant) ? formatInstant(Math.floor(instant)) : value;
}
