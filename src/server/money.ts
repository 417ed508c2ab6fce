/** Integer cents of a dollar amount, null for none: amounts are added as integers. */
export function cents(dollars: number | null | undefined): number | null {
  return dollars == null ? null : Math.round(dollars * 100);
}

/** Dollars of integer cents, as on the wire: two decimals at most, never -0. */
export function dollars(cents: number): number {
  return cents / 100 || 0;
}
