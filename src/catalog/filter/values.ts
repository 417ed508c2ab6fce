import type { WallClock } from '../fields/kind.ts';
import { asId } from '../fields/numbers.ts';
import {
  FIRST_INSTANT,
  formatInstant,
  isDate,
  isTimeZone,
  LAST_INSTANT,
  parseInstant,
  utcMilliseconds,
} from '../fields/times.ts';
import type { Operator } from '../operators.ts';

export type FilterScalar = string | number | boolean;

/** What reading a filter value needs: the zone that a date without one stands in (D7); UTC for dates where absent. */
export interface FilterContext {
  readonly instantOf?: (wall: WallClock) => number;
}

/**
 * A kind of filter value. `read` gives the canonical value that is compared, or undefined for text that is none.
 * `match` tells the store how to compare: `exact` values as they are, `text` by NFC and folded columns, `digits` and
 * `tag` through rows of their own (any of several values of a record may match).
 */
export interface FilterValue {
  readonly name: string;
  readonly match: 'exact' | 'text' | 'many';
  /** Completes the sentence "the value must be …". */
  readonly expected: string;
  readonly values?: readonly string[];
  /** All locations may be requested by `ALL` or `*` (D12). */
  readonly all?: boolean;
  readonly read: (text: string, operator: Operator, context: FilterContext) => FilterScalar | undefined;
  /** The form in which a value that `read` takes is sent (D50); as written where absent. */
  readonly wire?: (text: string, context: FilterContext) => string;
}

export const idValue: FilterValue = {
  name: 'id',
  match: 'exact',
  expected: 'a positive integer',
  read: (text) => asId(text),
  wire: (text) => String(asId(text)),
};

/** A location id, or all locations. */
export const locationValue: FilterValue = {
  ...idValue,
  expected: 'a location id, ALL or *',
  all: true,
  wire: (text) => String(asId(text) ?? text.toUpperCase()),
};

export const textValue: FilterValue = {
  name: 'text',
  match: 'text',
  expected: 'text',
  read: (text) => text.normalize('NFC'),
};

/** Text that is compared as it is (organization ids, group ids): it has no folded column. */
export const exactTextValue: FilterValue = { ...textValue, match: 'exact' };

export const dateValue: FilterValue = {
  name: 'date',
  match: 'exact',
  expected: 'a date that exists, written YYYY-MM-DD',
  read: (text) => (isDate(text) ? text : undefined),
};

export const dateTimeValue: FilterValue = {
  name: 'dateTime',
  match: 'exact',
  expected: 'an ISO 8601 date-time such as 2026-03-02T14:30:00Z, or a date',
  read(text, operator, context) {
    const instant = isDate(text) ? midnight(text, context) : parseInstant(text, context);
    if (instant === undefined || instant === 'unresolved') return instant === undefined ? undefined : text;
    // No record has an instant between two milliseconds; a finer digit makes it differ from every stored one.
    if (operator === '==' && !Number.isInteger(instant)) return formatInstant(Math.floor(instant)).replace('Z', '5Z');
    // Records keep milliseconds: a bound between two of them is moved to the one that selects the same records.
    const bound = operator === '>=' || operator === '<' ? Math.ceil(instant) : Math.floor(instant);
    return formatInstant(Math.min(bound, LAST_INSTANT));
  },
  wire(text, context) {
    const instant = isDate(text) ? midnight(text, context) : parseInstant(text, context);
    if (typeof instant !== 'number') return text;
    const inYears = Math.max(FIRST_INSTANT, Math.min(Math.floor(instant), LAST_INSTANT));
    // Another service may keep finer digits than milliseconds, so those that were given are sent.
    const fraction = /[.,](\d+)/.exec(text)?.[1]?.replace(/0+$/, '') ?? '';
    return `${formatInstant(inYears).slice(0, -'.000Z'.length)}${fraction === '' ? '' : `.${fraction}`}Z`;
  },
};

function midnight(text: string, context: FilterContext): number {
  const [year = 1, month = 1, day = 1] = text.split('-').map(Number);
  const wall = { year, month, day, hour: 0, minute: 0, second: 0, millisecond: 0 };
  return context.instantOf?.(wall) ?? utcMilliseconds(wall);
}

/** One of a closed list, in any letter case (D8). */
export function choiceValue(values: readonly string[]): FilterValue {
  const canonical = new Map(values.map((value) => [value.toLowerCase(), value]));
  return {
    name: 'choice',
    match: 'exact',
    expected: `one of ${values.join(', ')}`,
    values,
    read: (text) => canonical.get(text.toLowerCase()),
    wire: (text) => canonical.get(text.toLowerCase()) as string,
  };
}

/** A phone number, compared by its digits only (D11). */
export const digitsValue: FilterValue = {
  name: 'digits',
  match: 'many',
  expected: 'a phone number',
  read: (text) => digitsOf(text) || undefined,
};

export function digitsOf(text: string): string {
  return text.replace(/\D/g, '');
}

/** A tag name, compared in any letter case (D11). */
export const tagValue: FilterValue = {
  name: 'tag',
  match: 'many',
  expected: 'a tag name',
  read: (text) => foldText(text.trim()) || undefined,
};

/** The form in which text is compared in any letter case: NFC, lower case. */
export function foldText(text: string): string {
  return text.normalize('NFC').toLowerCase().normalize('NFC');
}

export const timeZoneValue: FilterValue = {
  name: 'timeZone',
  match: 'exact',
  expected: 'an IANA time zone such as America/Denver',
  read: (text) => (isTimeZone(text) ? text : undefined),
};

export const yesNoValue: FilterValue = {
  name: 'yesNo',
  match: 'exact',
  expected: 'true or false',
  values: ['true', 'false'],
  read: (text) => ({ true: true, false: false })[text.toLowerCase()],
  wire: (text) => text.toLowerCase(),
};

/** A whole number within bounds. */
export function integerValue(min: number, max: number): FilterValue {
  const bounds = max === Number.MAX_SAFE_INTEGER ? `from ${min} on` : `from ${min} to ${max}`;
  return {
    name: 'integer',
    match: 'exact',
    expected: `a whole number ${bounds}`,
    read(text) {
      const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
    wire: (text) => String(Number(text)),
  };
}

/** Dollars with at most two decimals, read as cents so that comparing is exact. */
export const dollarsValue: FilterValue = {
  name: 'dollars',
  match: 'exact',
  expected: 'an amount in dollars such as 120.50',
  read: (text) => (/^-?\d{1,12}(\.\d{1,2})?$/.test(text) ? Math.round(Number(text) * 100) : undefined),
};
