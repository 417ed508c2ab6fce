/** Whole cents of a dollar amount, null for none: money is added as integers. */
export function cents(dollars: number | null | undefined): number | null {
  return dollars == null ? null : Math.round(dollars * 100);
}
