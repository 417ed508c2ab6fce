/** How much may be held at once (contract §8). */
export interface BudgetLimits {
  /** Unfinished async deliveries, of each organization and token. */
  readonly deliveries: number;
  /** Bytes of answers that readers have not taken yet, of each organization. */
  readonly answerBytes: number;
  /** Images worked on, of each organization. */
  readonly images: number;
  /** Pixels of one image. */
  readonly imagePixels: number;
  /** Connections; a quarter of them from one address that is not this machine's. */
  readonly connections: number;
}

export const DEFAULT_BUDGETS: BudgetLimits = {
  deliveries: 4,
  answerBytes: 64 * 1024 * 1024,
  images: 2,
  imagePixels: 50_000_000,
  connections: 1000,
};
