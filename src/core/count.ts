/** A whole number from 0 on, as a number or as text; undefined for anything else. */
export function readCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** A whole number as people read it: `1,234`. */
export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** So many of a thing, in words: `1 record`, `1,234 records`. */
export function quantity(count: number, thing: string): string {
  return `${countText(count)} ${thing}${count === 1 ? '' : 's'}`;
}

const UNITS: readonly (readonly [name: string, milliseconds: number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** A span of time in words, in the largest unit of which there are two or more: `90 minutes`, `3 days`, `5 seconds`. */
export function spanText(milliseconds: number): string {
  const [name, size] = UNITS.find(([, unit]) => milliseconds >= 2 * unit) ?? ['second', 1000];
  return quantity(Math.max(0, Math.floor(milliseconds / size)), name);
}

/** UTC milliseconds as `2026-11-21 20:25 UTC`. */
export function momentText(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
