/** A whole number from 0 on, as a number or as text; undefined for anything else. */
export function readCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** A whole number as people read it: `1,234`. */
export function countText(count: number): string {
  return count.toLocaleString('en-US');
}
