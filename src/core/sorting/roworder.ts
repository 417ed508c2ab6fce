import { parseInstant } from '../../catalog/fields/times.ts';
import { type Column, cellText, valueAt } from '../output/columns.ts';
import type { Row } from '../pages/page.ts';

/** One key of `--sort`. */
export interface SortKey {
  readonly column: Column;
  readonly descending: boolean;
}

/** A record with its sort values, which are computed once. */
export interface Keyed {
  readonly row: Row;
  readonly values: readonly SortValue[];
}

/** Text as it is compared: folded first, exactly where that is equal. */
interface SortText {
  readonly folded: string;
  readonly exact: string;
}

/** A number, a boolean as 0 or 1, a number in digits or an instant (UTC nanoseconds) as a bigint, or text; undefined for no value. */
type SortValue = number | bigint | SortText | undefined;

const NUMERIC_KINDS = new Set(['id', 'integer', 'number', 'dollars']);

const ID: Column = { name: 'id', path: ['id'], isId: true };

/**
 * The order of rows of `--sort` (contract §2): numbers by value, instants by time, false before true, text by
 * code points after NFC and lower-casing, no value last in either direction; ties by id ascending.
 */
export class RowOrder {
  private readonly keys: readonly SortKey[];

  constructor(keys: readonly SortKey[]) {
    this.keys = [...keys, { column: ID, descending: false }];
  }

  keyed(row: Row): Keyed {
    return { row, values: this.keys.map(({ column }) => sortValue(valueAt(row, column), column)) };
  }

  /** Negative when `a` comes before `b`. */
  readonly compare = (a: Keyed, b: Keyed): number => {
    for (const [at, { descending }] of this.keys.entries()) {
      const [left, right] = [a.values[at], b.values[at]];
      const missing = Number(left === undefined) - Number(right === undefined);
      if (missing !== 0) return missing;
      if (left === undefined || right === undefined) continue;
      const order = compareValues(left, right);
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  };

  /** Entries in the order of the rows they stand for. */
  sorted<T>(entries: readonly T[], rowOf: (entry: T) => Row): T[] {
    return entries
      .map((entry) => ({ entry, keyed: this.keyed(rowOf(entry)) }))
      .sort((a, b) => this.compare(a.keyed, b.keyed))
      .map(({ entry }) => entry);
  }
}

function sortValue(value: unknown, { isId, kind }: Column): SortValue {
  if (value === null || value === undefined || value === '') return undefined;
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  const text = cellText(value);
  // Numbers may come as their digits, ids above all (D1).
  const number = isId || NUMERIC_KINDS.has(kind ?? '') ? numberOf(text.trim()) : undefined;
  if (number !== undefined) return number;
  return (kind === 'dateTime' ? nanosecondsOf(text) : undefined) ?? sortText(text);
}

/** A number by its digits, a whole one as a bigint, which keeps all of them; undefined for other text. */
function numberOf(digits: string): number | bigint | undefined {
  if (/^-?\d+$/.test(digits)) return BigInt(digits);
  return /^-?\d+\.\d+$/.test(digits) ? Number(digits) : undefined;
}

function sortText(exact: string): SortText {
  return { folded: exact.normalize('NFC').toLowerCase(), exact };
}

/** UTC nanoseconds of an instant with up to nine digits of a second; undefined for text that is none. */
function nanosecondsOf(text: string): bigint | undefined {
  const milliseconds = parseInstant(text, {});
  if (typeof milliseconds !== 'number') return undefined;
  const finer = /[.,]\d{3}(\d{1,6})/.exec(text)?.[1] ?? '';
  return BigInt(Math.floor(milliseconds)) * 1_000_000n + BigInt(finer.padEnd(6, '0'));
}

/** Numbers, ids and instants before text, should one column have both. */
function compareValues(a: NonNullable<SortValue>, b: NonNullable<SortValue>): number {
  if (typeof a === 'object' && typeof b === 'object') {
    return byCodePoints(a.folded, b.folded) || byCodePoints(a.exact, b.exact);
  }
  if (typeof a === 'object' || typeof b === 'object') return typeof a === 'object' ? 1 : -1;
  // A number and a bigint compare exactly.
  return a < b ? -1 : Number(a > b);
}

/** By code points: JavaScript itself compares code units, and puts U+1F600 before U+FF5E. */
function byCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    if (a.charCodeAt(at) === b.charCodeAt(at)) continue;
    return (a.codePointAt(at) ?? 0) - (b.codePointAt(at) ?? 0);
  }
  return a.length - b.length;
}
