import { describe, expect, it } from 'vitest';
import { momentText, quantity, readCount, spanText } from '../../src/core/count.ts';

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

const MINUTE = 60_000;

describe('quantity', () => {
  it.each([
    [0, '0 files'],
    [1, '1 file'],
    [2, '2 files'],
    [1234, '1,234 files'],
  ])('of %i', (count, expected) => {
    expect(quantity(count, 'file')).toBe(expected);
  });
});

describe('spanText', () => {
  it.each([
    [-5000, '0 seconds'],
    [999, '0 seconds'],
    [1000, '1 second'],
    [119_000, '119 seconds'],
    [2 * MINUTE, '2 minutes'],
    [119 * MINUTE, '119 minutes'],
    [120 * MINUTE, '2 hours'],
    [47 * 60 * MINUTE, '47 hours'],
    [50 * 60 * MINUTE, '2 days'],
  ])('%i ms are %s', (milliseconds, expected) => {
    expect(spanText(milliseconds)).toBe(expected);
  });
});

describe('momentText', () => {
  it('is in UTC', () => {
    expect(momentText(Date.UTC(2026, 10, 21, 9, 5, 59))).toBe('2026-11-21 09:05 UTC');
  });
});
