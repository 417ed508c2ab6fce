/** Most cents that are added exactly: 90 trillion dollars. */
const MOST = Number.MAX_SAFE_INTEGER;

/**
 * Whole cents of dollars as they stand on the wire, 0 for null or nothing. Undefined for anything else than a number,
 * and for one too large to be exact to the cent.
 */
export function centsOf(dollars: unknown): number | undefined {
  if (dollars === null || dollars === undefined) return 0;
  const cents = typeof dollars === 'number' ? Math.round(dollars * 100) : Number.NaN;
  return Number.isFinite(cents) && Math.abs(cents) <= MOST ? cents || 0 : undefined;
}

/** Dollars of whole cents, as a number with two decimals at most; never -0. */
export function dollarsOf(cents: number): number {
  return cents / 100 || 0;
}

/** Whole cents as people read dollars: `-1,234.50`. Exact, since no fraction is ever computed. */
export function dollarsText(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ',');
  return `${cents < 0 ? '-' : ''}${whole}.${digits.slice(-2)}`;
}

/** Whole cents with the sign of their currency: `-$1,234.50`. */
export function usdText(cents: number): string {
  return `${cents < 0 ? '-' : ''}$${dollarsText(Math.abs(cents))}`;
}

/** A whole number as people read it: `1,234`. */
export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** A block for each of `width` columns that `part` of `whole` fills; one at least for anything above 0. */
export function bar(part: number, whole: number, width: number): string {
  if (part <= 0 || whole <= 0) return '';
  return '█'.repeat(Math.min(width, Math.max(1, Math.round((part / whole) * width))));
}
