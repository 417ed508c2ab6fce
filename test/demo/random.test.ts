import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random, weights } from '../../src/demo/random.ts';

const numbers = (seeds: readonly [number, number, number], count: number) => {
  const random = new Random(...seeds);
  return Array.from({ length: count }, () => random.next());
};

describe('random', () => {
  it('gives the same numbers for the same seeds and others for neighbours', () => {
    fc.assert(
      fc.property(fc.integer(), fc.nat(10), fc.nat(1_000_000), (seed, purpose, index) => {
        expect(numbers([seed, purpose, index], 5)).toEqual(numbers([seed, purpose, index], 5));
        expect(numbers([seed, purpose, index], 5)).not.toEqual(numbers([seed, purpose, index + 1], 5));
        expect(numbers([seed, purpose, index], 5)).not.toEqual(numbers([seed, purpose + 1, index], 5));
      }),
    );
  });

  it('stays inside its bounds and reaches both ends', () => {
    const random = new Random(1, 2, 3);
    const seen = new Set(Array.from({ length: 2_000 }, () => random.between(-2, 3)));
    expect([...seen].sort((a, b) => a - b)).toEqual([-2, -1, 0, 1, 2, 3]);
    expect(Array.from({ length: 100 }, () => random.next()).every((value) => value >= 0 && value < 1)).toBe(true);
  });

  it('follows weights', () => {
    const random = new Random(7, 7, 7);
    const choice = weights([
      ['often', 90],
      ['never', 0],
      ['seldom', 10],
    ]);
    const drawn = Array.from({ length: 10_000 }, () => random.weighted(choice));
    const often = drawn.filter((value) => value === 'often').length;
    expect(drawn).not.toContain('never');
    expect(often).toBeGreaterThan(8_800);
    expect(often).toBeLessThan(9_200);
  });
});
