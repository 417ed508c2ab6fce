/** How a complete read knows that it is complete (D48), for receipts and summaries. */
export interface Proof {
  /**
   * `count`: at least as many rows came as the service counts for the same filter. `bound`: nothing to count; the filter
   * has an early bound, or what the bound may leave out was asked for as well. `walk`: nothing to count, and the
   * specification knows no date filter here; the list was read to its end. `none`: not asked for everything.
   */
  readonly by: 'count' | 'bound' | 'walk' | 'none';
  /** What the service counted at the end; null where it does not count. */
  readonly counted: number | null;
  /** What could not be asked for, or why nothing is proved; null where all of it is. */
  readonly unproved: string | null;
}
