import type { Bulk } from './bulk.ts';
import type { World } from './call.ts';
import type { Term } from './filter.ts';

const DAY = 86_400_000;

/**
 * Whether a filter has a lastModified range that takes too long, without any other term. Time before the organization
 * and time to come cost nothing.
 */
export function tooWide({ wide }: Bulk, { moods, practice, clock }: World, terms: readonly Term[]): boolean {
  if (!wide || moods.wideDays === null || (wide === 'wideEverywhere' && !moods.wideEverywhere)) return false;
  const narrowing = terms.filter(({ values }) => !values.includes('ALL'));
  if (narrowing.length === 0 || narrowing.some(({ key }) => key !== 'lastModified')) return false;
  let from = practice.created;
  let to = clock();
  for (const { operator, values } of narrowing) {
    const bound = Number(values[0]);
    if (operator.startsWith('>')) from = Math.max(from, bound);
    else to = Math.min(to, bound);
  }
  return to - from > moods.wideDays * DAY;
}
