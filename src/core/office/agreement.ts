import type { OfficeCheck } from './result.ts';

/** Two sums that have to be the same, in cents, and what they are of. */
export interface Sums {
  readonly what: string;
  readonly expectedCents: number;
  readonly gotCents: number;
}

/** A check, and the sums that disagree. */
export interface Agreement extends OfficeCheck {
  readonly disagreeing: readonly Sums[];
  /** What else is wrong, each as a sentence; nothing agrees then. */
  readonly problems: readonly string[];
}

/** Compares the sum of rows with what the API says. */
export function agreement(what: string, expectedCents: number, gotCents: number): Agreement {
  const differenceCents = gotCents - expectedCents;
  const agrees = differenceCents === 0;
  const disagreeing = agrees ? [] : [{ what, expectedCents, gotCents }];
  return { agrees, expectedCents, gotCents, differenceCents, disagreeing, problems: [] };
}
