import { describe, expect, it } from 'vitest';
import { freeParts, merged } from '../../../../src/server/reports/openings/busytimes.ts';

type Pair = readonly [from: number, to: number];
const intervals = (pairs: readonly Pair[]) => pairs.map(([from, to]) => ({ from, to }));

describe('merged', () => {
  it.each<[name: string, given: readonly Pair[], expected: readonly Pair[]]>([
    ['nothing', [], []],
    [
      'apart',
      [
        [5, 6],
        [1, 2],
      ],
      [
        [1, 2],
        [5, 6],
      ],
    ],
    [
      'touching',
      [
        [1, 2],
        [2, 3],
      ],
      [[1, 3]],
    ],
    [
      'overlapping',
      [
        [2, 5],
        [1, 3],
      ],
      [[1, 5]],
    ],
    [
      'one inside another',
      [
        [1, 9],
        [2, 3],
        [4, 5],
      ],
      [[1, 9]],
    ],
    [
      'equal',
      [
        [1, 2],
        [1, 2],
      ],
      [[1, 2]],
    ],
  ])('joins %s', (_name, given, expected) => {
    expect(merged(intervals(given))).toEqual(intervals(expected));
  });
});

describe('freeParts', () => {
  it.each<[name: string, busy: readonly Pair[], expected: readonly Pair[]]>([
    ['nothing taken', [], [[10, 20]]],
    [
      'taken before and after',
      [
        [1, 9],
        [21, 30],
      ],
      [[10, 20]],
    ],
    [
      'taken up to it and from its end',
      [
        [1, 10],
        [20, 30],
      ],
      [[10, 20]],
    ],
    [
      'taken in the middle',
      [[12, 14]],
      [
        [10, 12],
        [14, 20],
      ],
    ],
    ['taken at the start', [[8, 12]], [[12, 20]]],
    ['taken at the end', [[18, 25]], [[10, 18]]],
    [
      'taken to the end, and again later',
      [
        [12, 20],
        [25, 30],
      ],
      [[10, 12]],
    ],
    [
      'taken past the end, and again later',
      [
        [12, 21],
        [25, 30],
      ],
      [[10, 12]],
    ],
    ['taken whole', [[10, 20]], []],
    ['taken whole and more', [[1, 30]], []],
    [
      'taken twice',
      [
        [11, 12],
        [13, 14],
      ],
      [
        [10, 11],
        [12, 13],
        [14, 20],
      ],
    ],
  ])('%s', (_name, busy, expected) => {
    expect(freeParts({ from: 10, to: 20 }, intervals(busy))).toEqual(intervals(expected));
  });

  it('of nothing are nothing', () => {
    expect(freeParts({ from: 10, to: 10 }, [])).toEqual([]);
    expect(freeParts({ from: 10, to: 5 }, intervals([[6, 7]]))).toEqual([]);
  });
});
