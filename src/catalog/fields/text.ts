import { describe, fail, type Kind } from './kind.ts';

interface TextLimits {
  /** Code points after trimming (D9). */
  readonly min?: number;
  readonly max?: number;
  /** A further rule: returns what is wrong, or undefined. */
  readonly rule?: (text: string) => string | undefined;
}

/** Text: trimmed, NFC left as sent, length counted in code points, NUL refused (D9). */
export function text(limits: TextLimits = {}): Kind<string> {
  const { min = 0, max = Number.POSITIVE_INFINITY, rule } = limits;
  return {
    name: 'text',
    schema: {
      type: 'string',
      ...(min > 0 && { minLength: min }),
      ...(Number.isFinite(max) && { maxLength: max }),
    },
    read(input, at, context) {
      if (typeof input !== 'string') {
        return fail(context, 'field.type', at, `${at} must be a string, not ${describe(input)}.`);
      }
      const trimmed = input.trim();
      const simple = SIMPLE.test(trimmed);
      const unfit = simple ? undefined : unfitness(trimmed);
      if (unfit !== undefined) return fail(context, 'field.format', at, `${at} ${unfit}`);
      const length = simple ? trimmed.length : codePoints(trimmed);
      if (length < min || length > max) {
        return fail(context, 'field.length', at, `${at} must have ${range(min, max)} characters, it has ${length}.`);
      }
      const wrong = rule?.(trimmed);
      if (wrong !== undefined) return fail(context, 'field.format', at, `${at} ${wrong}`);
      return trimmed;
    },
    fromText: (flag) => flag,
  };
}

/** Text that most fields hold: each of its characters is a code point, and none is NUL, half of a pair or a mark. */
const SIMPLE = /^[ -\xff]*$/;

/** What no text may hold, as a message has it; undefined for text that holds none of it. */
function unfitness(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the NUL character.';
  if (/\p{Surrogate}/u.test(text)) return 'holds half of a surrogate pair.';
  return hasLongRun(text) ? `has more than ${MAX_MARKS} combining marks in a row.` : undefined;
}

/** Combining marks in a row, as in the stream-safe text format of Unicode (UAX #15). */
export const MAX_MARKS = 30;

/**
 * Whether a text has more combining marks in a row than any language: to bring those into normal form takes time that
 * grows with the square of their number.
 */
export function hasLongRun(text: string): boolean {
  return LONG_RUN.test(text);
}

const LONG_RUN = new RegExp(`\\p{M}{${MAX_MARKS + 1}}`, 'u');

/** The type name of a record: the same on every record of its kind. */
export function typeName(name: string): Kind<string> {
  return { ...text(), schema: { type: 'string', const: name } };
}

/**
 * One of a closed list, in any letter case; stored as listed (D8). `beyond`: what a value is that is not listed, for a
 * list that the specification gives by example or not at all; a service may know more than ours does (D50).
 */
export function choice<const V extends string>(
  values: readonly V[],
  beyond?: (text: string) => string | undefined,
): Kind<V> {
  const canonical = new Map(values.map((value) => [value.toLowerCase(), value]));
  return {
    name: 'choice',
    ...(beyond !== undefined && { isOpen: true }),
    schema: { type: 'string', enum: values },
    values,
    read(input, at, context) {
      if (typeof input !== 'string') {
        return fail(context, 'field.type', at, `${at} must be a string, not ${describe(input)}.`);
      }
      const trimmed = input.trim();
      const unlisted = context.forService === true ? (beyond?.(trimmed) as V | undefined) : undefined;
      const found = canonical.get(trimmed.toLowerCase()) ?? unlisted;
      return found ?? fail(context, 'field.choice', at, `${at} must be one of ${values.join(', ')}.`);
    },
    fromText: (flag) => flag,
  };
}

/** Any text but none: what an open list of words may hold beside those listed. */
export function anyWord(text: string): string | undefined {
  return text === '' ? undefined : text;
}

export function codePoints(value: string): number {
  let count = 0;
  for (const _ of value) count++;
  return count;
}

function range(min: number, max: number): string {
  if (!Number.isFinite(max)) return `at least ${min}`;
  if (min === 0) return `at most ${max}`;
  return min === max ? `${min}` : `${min} to ${max}`;
}
