import { utcStart } from '../calendar.ts';
import type { Household } from '../people.ts';
import type { Practice } from '../practice.ts';
import { type Random, weights } from '../random.ts';
import type { Claim } from './claims.ts';
import type { Coverages } from './coverage.ts';
import type { Due, Ledger } from './entries.ts';

/** How a household pays its part: at the visit, by statement, months late, or not at all. */
export type PayStyle = 'prompt' | 'billed' | 'late' | 'never';

export const PAY_STYLES = weights<PayStyle>([
  ['prompt', 68],
  ['billed', 27],
  ['late', 4],
  ['never', 1],
]);

/** What the ledger of one household is made with, and what has come of it so far. */
export interface Posting {
  readonly practice: Practice;
  readonly household: Household;
  readonly coverages: Coverages;
  readonly random: Random;
  readonly style: PayStyle;
  /** Last day on which anything can have been entered. */
  readonly lastDay: number;
  readonly ledger: Ledger;
  readonly claims: Claim[];
  readonly dues: Due[];
}

/**
 * The day on which a household pays what it has known of since `day`; infinite when it never does. `settled` tells
 * whether the plan's share is final: statements go out only then.
 */
export function payDay(style: PayStyle, day: number, settled: boolean): number {
  if (style === 'prompt') return day;
  if (style === 'never' || !settled) return Number.POSITIVE_INFINITY;
  return statementDay(day + 5) + (style === 'late' ? 61 : 0);
}

/** The next 12th of a month. */
function statementDay(day: number): number {
  const date = new Date(utcStart(day));
  const month = date.getUTCMonth() + (date.getUTCDate() > 12 ? 1 : 0);
  return Date.UTC(date.getUTCFullYear(), month, 12) / utcStart(1);
}
