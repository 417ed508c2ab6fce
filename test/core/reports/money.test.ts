import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bar, centsOf, dollarsOf, dollarsText, usdText } from '../../../src/core/reports/money.ts';
import { decimal } from './agingsamples.ts';

describe('centsOf', () => {
  it.each([
    [0, 0],
    [-0, 0],
    [1.1, 110],
    [1.15, 115],
    [0.29, 29],
    [-32, -3200],
    [120.30000000000001, 12030],
    [0.1 + 0.2, 30],
    [null, 0],
    [undefined, 0],
    ['12', undefined],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    [1e15, undefined],
    [{}, undefined],
  ])('reads %s as %s', (dollars, cents) => {
    expect(centsOf(dollars)).toBe(cents);
  });

  it('is exact for every amount of cents', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000_000_000, max: 1_000_000_000_000 }), (cents) => {
        expect(centsOf(decimal(cents))).toBe(cents + 0);
        expect(dollarsOf(cents)).toBe(decimal(cents));
        expect(
          dollarsText(cents)
            .replaceAll(',', '')
            .replace('.', '')
            .replace(/^(-?)0+(?=\d)/, '$1'),
        ).toBe(String(cents));
      }),
    );
  });
});

describe('dollarsText', () => {
  it.each([
    [0, '0.00'],
    [5, '0.05'],
    [-5, '-0.05'],
    [100, '1.00'],
    [99_999, '999.99'],
    [100_000, '1,000.00'],
    [-123_456_789, '-1,234,567.89'],
  ])('writes %d as %s', (cents, text) => {
    expect(dollarsText(cents)).toBe(text);
  });
});

describe('usdText', () => {
  it.each([
    [0, '$0.00'],
    [5, '$0.05'],
    [-123_456, '-$1,234.56'],
  ])('writes %d as %s', (cents, text) => {
    expect(usdText(cents)).toBe(text);
  });
});

describe('bar', () => {
  it.each([
    [0, 100, 10, ''],
    [-5, 100, 10, ''],
    [5, 0, 10, ''],
    [1, 1000, 10, '█'],
    [50, 100, 10, '█████'],
    [100, 100, 10, '██████████'],
    [200, 100, 4, '████'],
    [50, 100, 0, ''],
  ])('of %d in %d, %d wide', (part, whole, width, drawn) => {
    expect(bar(part, whole, width)).toBe(drawn);
  });
});
