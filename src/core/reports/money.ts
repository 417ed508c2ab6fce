/** Maximum cents that are added exactly: 90 trillion dollars. */
const MAX_CENTS = Number.MAX_SAFE_INTEGER;

/**
 * Whole cents of dollars as they are on the wire, 0 for null or nothing. Undefined for anything but a number, and for
 * one too large to be exact to the cent.
 */
export function centsOf(dollars: unknown): number | undefined {
  if (dollars === null || dollars === undefined) return 0;
  const cents = typeof dollars === 'number' ? Math.round(dollars * 100) : Number.NaN;
  return Number.isFinite(cents) && Math.abs(cents) <= MAX_CENTS ? cents || 0 : undefined;
}

/** Parts of a cent in which amounts are added that may be finer: sums of integers are exact, those of dollars are not. */
export const PARTS_OF_CENT = 1000;

/**
 * Parts of dollars as they are on the wire, a number or a numeric text, 0 for null or nothing; digits beyond the
 * fifth decimal, as adding in floating point leaves them, are rounded. Undefined for anything else, and for an amount
 * too large to be exact.
 */
export function partsOf(dollars: unknown): number | undefined {
  if (dollars === null || dollars === undefined) return 0;
  const number = typeof dollars === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(dollars) ? Number(dollars) : dollars;
  const parts = typeof number === 'number' ? Math.round(number * 100 * PARTS_OF_CENT) : Number.NaN;
  return Number.isFinite(parts) && Math.abs(parts) <= MAX_CENTS ? parts || 0 : undefined;
}

/** An amount in parts as whole cents: rounded, half a cent away from zero. */
export function shownCents(parts: number): number {
  return Math.sign(parts) * Math.floor((Math.abs(parts) + PARTS_OF_CENT / 2) / PARTS_OF_CENT) || 0;
}

/** Whether an amount in parts is no whole number of cents. */
export function isFraction(parts: number): boolean {
  return parts % PARTS_OF_CENT !== 0;
}

/** An amount in parts as people read dollars, with every digit beyond the second decimal: `-1,234.505`. */
export function exactText(parts: number): string {
  const finer = String(Math.abs(parts) % PARTS_OF_CENT)
    .padStart(3, '0')
    .replace(/0+$/, '');
  const cents = Math.floor(Math.abs(parts) / PARTS_OF_CENT);
  return `${parts < 0 ? '-' : ''}${dollarsText(cents)}${finer}`;
}

/** Dollars of whole cents, a number with at most two decimals; never -0. */
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

/** A block for each of `width` columns that `part` of `whole` fills; at least one for anything above 0. */
export function bar(part: number, whole: number, width: number): string {
  if (part <= 0 || whole <= 0) return '';
  return '█'.repeat(Math.min(width, Math.max(1, Math.round((part / whole) * width))));
}
