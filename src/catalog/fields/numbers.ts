import { describe, fail, type Kind } from './kind.ts';

interface Bounds {
  readonly min?: number;
  readonly max?: number;
  /** The value must be greater than this. */
  readonly above?: number;
}

/** A record id: a JSON number, or the same as a string; exact up to 2^53 − 1 (D1). */
export function id(): Kind<number> {
  return {
    name: 'id',
    schema: { type: 'integer', format: 'int64', minimum: 1 },
    read(input, at, context) {
      const value = asId(input);
      return value ?? fail(context, 'field.type', at, `${at} must be a positive integer.`);
    },
    fromText: (flag) => flag,
  };
}

/** The number of an id written as number or numeric string; undefined for everything else. */
export function asId(input: unknown): number | undefined {
  if (typeof input === 'number') return Number.isSafeInteger(input) && input > 0 ? input : undefined;
  if (typeof input !== 'string' || !/^0*[1-9]\d{0,15}$/.test(input.trim())) return undefined;
  const value = Number(input);
  return Number.isSafeInteger(value) ? value : undefined;
}

export function integer(bounds: Bounds = {}): Kind<number> {
  return {
    name: 'integer',
    schema: { type: 'integer', ...limits(bounds) },
    read(input, at, context) {
      const value = asNumber(input);
      if (value === undefined || !Number.isSafeInteger(value)) {
        return fail(context, 'field.type', at, `${at} must be an integer, not ${describe(input)}.`);
      }
      return within(value, bounds) ? value : fail(context, 'field.range', at, `${at} must be ${between(bounds)}.`);
    },
    fromText: numeric,
  };
}

export function number(bounds: Bounds = {}): Kind<number> {
  return {
    name: 'number',
    schema: { type: 'number', ...limits(bounds) },
    read(input, at, context) {
      const value = asNumber(input);
      if (value === undefined)
        return fail(context, 'field.type', at, `${at} must be a number, not ${describe(input)}.`);
      return within(value, bounds) ? value : fail(context, 'field.range', at, `${at} must be ${between(bounds)}.`);
    },
    fromText: numeric,
  };
}

/** Dollars, rounded to whole cents. */
export function dollars(bounds: Bounds = {}): Kind<number> {
  const base = number(bounds);
  return {
    ...base,
    name: 'dollars',
    read(input, at, context) {
      const value = base.read(input, at, context);
      if (value === undefined) return undefined;
      if (Math.abs(value) > 1e12)
        return fail(context, 'field.range', at, `${at} is more money than can be kept exactly.`);
      return Math.round(value * 100) / 100 || 0;
    },
  };
}

export function yesNo(): Kind<boolean> {
  return {
    name: 'yesNo',
    schema: { type: 'boolean' },
    values: ['true', 'false'],
    read(input, at, context) {
      if (typeof input === 'boolean') return input;
      return fail(context, 'field.type', at, `${at} must be true or false, not ${describe(input)}.`);
    },
    fromText: (flag) => (flag === 'true' ? true : flag === 'false' ? false : flag),
  };
}

function asNumber(input: unknown): number | undefined {
  if (typeof input === 'number') return Number.isFinite(input) ? input : undefined;
  if (typeof input === 'string' && /^-?\d+(\.\d+)?$/.test(input.trim())) return Number(input);
  return undefined;
}

function numeric(flag: string): unknown {
  return asNumber(flag) ?? flag;
}

function within(value: number, { min = -Infinity, max = Infinity, above = -Infinity }: Bounds): boolean {
  return value >= min && value <= max && value > above;
}

function limits({ min, max, above }: Bounds) {
  return {
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
    ...(above !== undefined && { exclusiveMinimum: above }),
  };
}

function between({ min, max, above }: Bounds): string {
  if (above !== undefined) return `more than ${above}`;
  if (min === undefined) return `at most ${max}`;
  return max === undefined ? `at least ${min}` : `from ${min} to ${max}`;
}
