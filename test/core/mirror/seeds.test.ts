import { describe, expect, it } from 'vitest';
import { type Moods, moodsOf, PLAIN } from '../../faithful/moods.ts';
import { Draws } from '../../faithful/random.ts';
import { CHOSEN, faultRate } from './seeds.ts';

/** Numbers from a range, which no few seeds have all of, and what is always the same in these runs. */
const LEFT_OUT: readonly string[] = ['pageCap', 'clockAhead', 'encoding'];
const MOODS = Object.keys(PLAIN).filter((name) => !LEFT_OUT.includes(name)) as (keyof Moods)[];

/** The values of each mood in some seeds. */
function valuesIn(seeds: readonly string[]): Record<string, string[]> {
  const moods = seeds.map(moodsOf);
  return Object.fromEntries(
    MOODS.map((name) => [name, [...new Set(moods.map((mood) => JSON.stringify(mood[name])))].toSorted()]),
  );
}

describe.each(Object.entries(CHOSEN))('the chosen seeds of %s', (kind, seeds) => {
  it('have every mood with each of its values', () => {
    const all = valuesIn(Array.from({ length: 300 }, (_, seed) => String(seed)));
    expect(MOODS.filter((name) => (all[name]?.length ?? 0) < 2)).toEqual([]);
    expect(valuesIn(seeds)).toEqual(all);
  });

  it('have faults in some, and none in others', () => {
    const rates = seeds.map((seed) => faultRate(new Draws(`${kind} ${seed}`)));
    expect(new Set(rates)).toEqual(new Set([0, 0.1]));
  });
});
