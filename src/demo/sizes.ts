export interface SizePlan {
  readonly patients: number;
  readonly locations: number;
  readonly dentists: number;
  readonly hygienists: number;
  /** Documents owned by patients and their perio exams, at most. */
  readonly documents: number;
}

/** The three practices: patients in all, locations, and staff of each location. */
export const SIZES = {
  small: { patients: 2_000, locations: 2, dentists: 1, hygienists: 1, documents: 2_000 },
  medium: { patients: 60_000, locations: 10, dentists: 2, hygienists: 3, documents: 2_000 },
  large: { patients: 500_000, locations: 60, dentists: 3, hygienists: 3, documents: 2_000 },
} as const satisfies Record<string, SizePlan>;

export type Size = keyof typeof SIZES;

/** Days of ledger and visits before today, and of booked visits after it. */
export const PAST_DAYS = 730;
export const FUTURE_DAYS = 91;
