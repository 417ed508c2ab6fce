import type { World } from './call.ts';
import type { Term } from './filter.ts';
import type { Stored } from './store.ts';
import { dayOf } from './zones.ts';

/** The date filter that a service applies by itself: which records it leaves, or undefined where it applies none. */
export type Automatic = (
  terms: readonly Term[],
  world: World,
  filtered: boolean,
) => ((stored: Stored) => boolean) | undefined;

const YEAR = 365 * 86_400_000;

/** Records whose date-time is of the last year, unless the filter has one of the date-limiting keys. */
export function lastYear(field: string, limiting: readonly string[], always: boolean): Automatic {
  return (terms, world) => {
    if (!(always || world.moods.automaticDates)) return undefined;
    if (terms.some(({ key }) => limiting.includes(key))) return undefined;
    const from = yearAgo(world);
    const undated = world.moods.automaticKeepsUndated ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    return ({ record }) => dateOf(record[field], undated) >= from;
  };
}

/** Transaction tags created within the last year, when no filter is sent at all. */
export const recentTags: Automatic = (_terms, world, filtered) =>
  filtered ? undefined : ({ created }) => created >= yearAgo(world);

/** Transactions dated within the last year. */
export const recentTransactions: Automatic = (terms, world) => {
  const limiting = world.moods.modifiedLimitsTransactions ? ['transactionDate', 'lastModified'] : ['transactionDate'];
  if (terms.some(({ key }) => limiting.includes(key))) return undefined;
  const from = dayOf(yearAgo(world), 'UTC');
  return ({ record }) => String(record.transactionDate) >= from;
};

/** A year ago, or when the organization was created if that is later. */
function yearAgo({ clock, practice }: World): number {
  return Math.max(clock() - YEAR, practice.created);
}

function dateOf(value: unknown, undated: number): number {
  return typeof value === 'string' ? Date.parse(value) : undated;
}
