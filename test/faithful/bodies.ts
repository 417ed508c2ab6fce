import { refuse } from './refusal.ts';
import { isDay, isInstant } from './values.ts';

/** Reads a value of a body; refuses one of another form, by the name of its field. */
export type Reader = (value: unknown, name: string) => unknown;

/**
 * The fields of a body. Refused: what is no object, a field that is not listed (read-only fields are not), a required
 * one that is missing.
 */
export function readBody(
  body: unknown,
  readers: Readonly<Record<string, Reader>>,
  required: readonly string[] = [],
): Record<string, unknown> {
  const fields = isObject(body) ? body : refuse('The body is not a JSON object.');
  const missing = required.find((name) => fields[name] === undefined || fields[name] === null);
  if (missing !== undefined) refuse(`${missing} is required.`);
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const reader = readers[name] ?? refuse(`${name} cannot be written.`);
      return [name, reader(value, name)];
    }),
  );
}

export function string(from = 0, to = Number.MAX_SAFE_INTEGER): Reader {
  return (value, name) => {
    if (typeof value !== 'string') return refuse(`${name} takes a string.`);
    const { length } = [...value];
    return length >= from && length <= to ? value : refuse(`${name} takes ${from}-${to} characters.`);
  };
}

export function matching(pattern: RegExp, what: string): Reader {
  return (value, name) =>
    typeof value === 'string' && pattern.test(value) ? value : refuse(`${name} takes ${what}, not ${String(value)}.`);
}

export function integer(from: number, to: number): Reader {
  return (value, name) =>
    Number.isInteger(value) && Number(value) >= from && Number(value) <= to
      ? value
      : refuse(`${name} takes an integer ${from}-${to}.`);
}

export function oneOf(...values: readonly string[]): Reader {
  return (value, name) =>
    typeof value === 'string' && values.includes(value)
      ? value
      : refuse(`${name} takes one of ${values.join(', ')}, not ${String(value)}.`);
}

export function listOf(item: Reader): Reader {
  return (value, name) =>
    Array.isArray(value) ? value.map((one) => item(one, name)) : refuse(`${name} takes an array.`);
}

export function orNull(reader: Reader): Reader {
  return (value, name) => (value === null ? null : reader(value, name));
}

export function object(readers: Readonly<Record<string, Reader>>, required: readonly string[] = []): Reader {
  return (value, name) => (isObject(value) ? readBody(value, readers, required) : refuse(`${name} takes an object.`));
}

export const anything: Reader = (value) => value;

export const numeric: Reader = (value, name) =>
  typeof value === 'number' && Number.isFinite(value) ? value : refuse(`${name} takes a number.`);

export const boolean: Reader = (value, name) =>
  typeof value === 'boolean' ? value : refuse(`${name} takes true or false.`);

export const day: Reader = (value, name) =>
  typeof value === 'string' && isDay(value) ? value : refuse(`${name} takes YYYY-MM-DD, not ${String(value)}.`);

/** A date-time with a zone; kept in UTC. */
export const instant: Reader = (value, name) =>
  typeof value === 'string' && isInstant(value)
    ? new Date(value).toISOString()
    : refuse(`${name} takes a date-time with a zone, not ${String(value)}.`);

/** `{ id }` with an integer id, as a number or a string of digits; kept as a number. */
export const link: Reader = (value, name) => {
  const { id, ...more } = isObject(value) ? value : refuse(`${name} takes { id }.`);
  const [other] = Object.keys(more);
  if (other !== undefined) refuse(`${name}.${other} cannot be written.`);
  return /^[1-9]\d{0,15}$/.test(String(id)) ? { id: Number(id) } : refuse(`${name}.id takes an integer.`);
};

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The id of a link that was read; undefined for none. */
export function idOf(value: unknown): number | undefined {
  return isObject(value) ? (value.id as number) : undefined;
}
