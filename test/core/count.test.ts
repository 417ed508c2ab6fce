import { describe, expect, it } from 'vitest';
import { readCount } from '../../src/core/count.ts';

describe('readCount', () => {
  it.each([
    [3, 3],
    ['3', 3],
    ['', undefined],
    [-1, undefined],
    ['1.5', undefined],
    [2 ** 60, undefined],
    [null, undefined],
  ])('reads %s as %s', (value, count) => {
    expect(readCount(value)).toBe(count);
  });
});
