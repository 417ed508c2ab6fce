import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bar,
  centsOf,
  dollarsOf,
  dollarsText,
  exactText,
  PARTS_OF_CENT,
  partsOf,
  shownCents,
  usdText,
} from '../../../src/core/reports/money.ts';
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
      fc.property(fc.integer({ min: -100_000_000_0000, max: 100_000_000_0000 }), (cents) => {
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

describe('parts of a cent', () => {
  it.each([
    [12.345, 1_234_500],
    ['12.345', 1_234_500],
    ['-0.00001', -1],
    [null, 0],
    ['', undefined],
    ['0x10', undefined],
    [true, undefined],
    [1e12, undefined],
  ])('reads %s as %s', (dollars, parts) => {
    expect(partsOf(dollars)).toBe(parts);
  });

  it.each([
    [1_234_500, 1235, '12.345'],
    [-1_234_500, -1235, '-12.345'],
    [1_234_499, 1234, '12.34499'],
    [-499, 0, '-0.00499'],
    [-500, -1, '-0.005'],
    [0, 0, '0.00'],
    [100_000_000, 100_000, '1,000.00'],
  ])('shows %d as %d cents, and exactly as %s', (parts, cents, exact) => {
    expect(shownCents(parts)).toBe(cents);
    expect(exactText(parts)).toBe(exact);
  });

  it('adds up to the cent for every amount of cents', () => {
    fc.assert(
      fc.property(fc.integer({ min: -100_000_000_000, max: 100_000_000_000 }), (cents) => {
        expect(partsOf(decimal(cents))).toBe(cents * PARTS_OF_CENT + 0);
        expect(partsOf(String(decimal(cents)))).toBe(cents * PARTS_OF_CENT + 0);
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
