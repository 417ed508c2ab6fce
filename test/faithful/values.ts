import { refuse } from './refusal.ts';

/** What values are compared as. */
export type Comparable = string | number | boolean;

/** How values of a filter key are written, and how those of a record are compared with them. */
export interface ValueKind {
  readonly read: (text: string, key: string) => Comparable;
  readonly of: (value: unknown) => Comparable;
}

const asText = (value: unknown): string => String(value);
const DAY = /^\d{4}-\d\d-\d\d$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

export const text: ValueKind = {
  read: (written, key) => (written === '' ? refuse(`${key} has no value.`) : written),
  of: asText,
};

export const id: ValueKind = { read: (written, key) => idOf(written, key), of: Number };

/** An id, `ALL` or `*`. */
export const location: ValueKind = {
  read: (written, key) => (isAll(written) ? 'ALL' : idOf(written, key)),
  of: Number,
};

export const date: ValueKind = {
  read: (written, key) => (isDay(written) ? written : refuse(`${key} takes YYYY-MM-DD, not ${written}.`)),
  of: (value) => asText(value).slice(0, 10),
};

export const instant: ValueKind = {
  read: (written, key) =>
    isInstant(written) ? Date.parse(written) : refuse(`${key} takes a date-time with a zone, not ${written}.`),
  of: (value) => Date.parse(asText(value)),
};

/** A timestamp whose name says date: both forms are taken. */
export const timestamp: ValueKind = {
  read: (written, key) => (isDay(written) ? Date.parse(`${written}T00:00:00Z`) : instant.read(written, key)),
  of: instant.of,
};

export const flag: ValueKind = {
  read: (written, key) =>
    written === 'true' || written === 'false' ? written === 'true' : refuse(`${key} takes true or false.`),
  of: Boolean,
};

export const amount: ValueKind = {
  read: (written, key) => (/^-?\d+(\.\d+)?$/.test(written) ? Number(written) : refuse(`${key} takes a number.`)),
  of: Number,
};

/** A whole number within bounds. */
export function whole(from: number, to: number): ValueKind {
  return {
    read: (written, key) => {
      const number = /^\d{1,9}$/.test(written) ? Number(written) : Number.NaN;
      return number >= from && number <= to ? number : refuse(`${key} takes an integer ${from}-${to}, not ${written}.`);
    },
    of: Number,
  };
}

/** One of the values that the specification spells out. */
export function oneOf(...values: readonly string[]): ValueKind {
  return {
    read: (written, key) =>
      values.includes(written) ? written : refuse(`${key} takes one of ${values.join(', ')}, not ${written}.`),
    of: asText,
  };
}

export function isAll(written: string): boolean {
  return written === 'ALL' || written === '*';
}

/** Whether a text is a real calendar day, `YYYY-MM-DD`. */
export function isDay(written: string): boolean {
  if (!DAY.test(written)) return false;
  const parsed = new Date(`${written}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(written);
}

/** Whether a text is an ISO 8601 date-time that carries a zone. */
export function isInstant(written: string): boolean {
  return INSTANT.test(written) && isDay(written.slice(0, 10)) && !Number.isNaN(Date.parse(written));
}

function idOf(written: string, key: string): number {
  return /^[1-9]\d{0,15}$/.test(written) ? Number(written) : refuse(`${key} takes an integer id, not ${written}.`);
}
