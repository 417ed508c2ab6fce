import { describe, expect, it } from 'vitest';
import { durationText, progressText } from '../../../src/cli/terminal/rowprogress.ts';

describe('progressText', () => {
  const standing = { rows: 12_500, came: 12_000, elapsed: 6000, total: 40_000, many: 'patients' };
  it.each([
    ['with a known total', {}, '12,500 of 40,000 patients, 2,000 a second, about 14 s left'],
    ['without one', { total: undefined }, '12,500 patients, 2,000 a second'],
    ['with a total that was too low', { total: 12_000 }, '12,500 patients, 2,000 a second'],
    ['before a rate can be told', { came: 0 }, '12,500 of 40,000 patients'],
    ['when it takes long', { came: 12 }, '12,500 of 40,000 patients, 2 a second, about 3 h 49 min left'],
  ])('%s', (_name, own, text) => {
    expect(progressText({ ...standing, ...own })).toBe(text);
  });
});

describe('durationText', () => {
  it.each([
    [0.4, '0 s'],
    [59.4, '59 s'],
    [60, '1 min'],
    [200, '3 min 20 s'],
    [7200, '2 h'],
    [7500, '2 h 5 min'],
  ])('of %d seconds is %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });
});
