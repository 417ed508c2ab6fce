import { describe, fail, type Kind, type ReadContext } from './kind.ts';

interface TextLimits {
  /** Code points after trimming (D9). */
  readonly min?: number;
  readonly max?: number;
  /** A further rule: returns what is wrong, or undefined. */
  readonly rule?: (text: string) => string | undefined;
}

/** Code points of a free text where whoever runs the server says nothing else (contract §8). */
export const MAX_TEXT = 10_000;

/** Code points of a name, a title, a code or a line of an address for which the specification has no limit (contract §8). */
const MAX_LINE = 255;

/** Text: trimmed, NFC left as sent, length counted in code points, control characters refused (D9, contract §8). */
export function text(limits: TextLimits = {}): Kind<string> {
  return limitedText(limits, limits.max, () => limits.max);
}

/** A text of one line for which the specification has no limit: a name, a code, an e-mail address. */
export function line(limits: Pick<TextLimits, 'min'> = {}): Kind<string> {
  return limitedText(limits, MAX_LINE, ({ forService }) => (forService ? undefined : MAX_LINE));
}

/** Text of people for people, such as a note: as long as the server allows (`maxText`). */
export function freeText(): Kind<string> {
  return limitedText({}, MAX_TEXT, ({ forService, maxText = MAX_TEXT }) => (forService ? undefined : maxText));
}

/** `max` of the schema, and the one that applies to a reading: limits of our own are no limits of other services (D50). */
function limitedText(
  { min = 0, rule }: TextLimits,
  shownMax: number | undefined,
  maxOf: (context: ReadContext) => number | undefined,
): Kind<string> {
  return {
    name: 'text',
    schema: {
      type: 'string',
      ...(min > 0 && { minLength: min }),
      ...(shownMax !== undefined && { maxLength: shownMax }),
    },
    read(input, at, context) {
      if (typeof input !== 'string') {
        return fail(context, 'field.type', at, `${at} must be a string, not ${describe(input)}.`);
      }
      const simple = SIMPLE.test(input);
      // As it was sent: to trim it would take some of the control characters away.
      const unfit = simple ? undefined : unfitness(input, context);
      if (unfit !== undefined) return fail(context, 'field.format', at, `${at} ${unfit}`);
      const trimmed = input.trim();
      const max = maxOf(context) ?? Number.POSITIVE_INFINITY;
      const length = simple ? trimmed.length : codePoints(trimmed);
      if (length < min || length > max) {
        return fail(context, 'field.length', at, `${at} must have ${range(min, max)}, it has ${length}.`);
      }
      const wrong = rule?.(trimmed);
      if (wrong !== undefined) return fail(context, 'field.format', at, `${at} ${wrong}`);
      return trimmed;
    },
    fromText: (flag) => flag,
  };
}

/** Text that most fields hold: each of its characters is a code point, and none is a control character, half of a pair or a mark. */
const SIMPLE = /^[ -~\xa0-\xff]*$/;

/** What no text may hold, as a message has it; undefined for text that holds none of it. */
function unfitness(text: string, { forService }: ReadContext): string | undefined {
  if (text.includes('\0')) return 'must not contain the NUL character.';
  if (/\p{Surrogate}/u.test(text)) return 'holds half of a surrogate pair.';
  const control = forService ? null : CONTROL.exec(text);
  if (control !== null) return `must not contain the control character ${codePointName(control[0])}.`;
  return hasLongRun(text) ? `has more than ${MAX_MARKS} combining marks in a row.` : undefined;
}

/** C0 and C1 control characters and DEL, but for tab, line feed and carriage return: they drive terminals and printers. */
const CONTROL = /(?![\t\n\r])\p{Cc}/u;

function codePointName(character: string): string {
  return `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
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
  if (!Number.isFinite(max)) return `at least ${characters(min)}`;
  if (min === 0) return `at most ${characters(max)}`;
  return min === max ? characters(min) : `${min} to ${characters(max)}`;
}

function characters(count: number): string {
  return count === 1 ? '1 character' : `${count} characters`;
}
