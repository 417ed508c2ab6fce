import { describe, expect, it } from 'vitest';
import { dollars, id, integer, number, yesNo } from '../../../src/catalog/fields/numbers.ts';
import { readWith } from './reading.ts';

describe('ids (D1)', () => {
  it.each([
    [1, 1],
    [2_147_483_648, 2_147_483_648],
    [7_000_000_000_114, 7_000_000_000_114],
    ['7000000000114', 7_000_000_000_114],
    ['99999999999999', 99_999_999_999_999],
    [9_007_199_254_740_991, 9_007_199_254_740_991],
    ['9007199254740991', 9_007_199_254_740_991],
    [' 12 ', 12],
    ['0012', 12],
  ])('read %j exactly', (input, value) => {
    expect(readWith(id(), input)).toMatchObject({ value, problems: [] });
  });

  it.each([
    0,
    -1,
    1.5,
    2 ** 53,
    '9007199254740992',
    '9007199254740993',
    '-1',
    '0',
    '1.0',
    '1e3',
    '',
    'abc',
    true,
    [1],
    { id: 1 },
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ])('refuse %j', (input) => {
    expect(readWith(id(), input)).toEqual({
      value: undefined,
      problems: ['field.type field'],
      descriptions: ['field must be a positive integer.'],
    });
  });
});

describe('numbers', () => {
  it.each([
    ['an integer', integer(), 5, 5],
    ['an integer as text', integer(), '-5', -5],
    ['an integer with a point', integer(), '5.0', 5],
    ['the least', integer({ min: 1, max: 52 }), 1, 1],
    ['the most', integer({ min: 1, max: 52 }), 52, 52],
    ['a fraction', number(), 0.25, 0.25],
    ['a fraction as text', number(), '0.25', 0.25],
    ['dollars', dollars(), 1234.56, 1234.56],
    ['dollars rounded to cents', dollars(), 0.125, 0.13],
    ['dollars without a negative zero', dollars(), -0.001, 0],
    ['dollars as text', dollars({ min: 0 }), '19.99', 19.99],
    ['a sum that floats', dollars(), 0.1 + 0.2, 0.3],
  ])('read %s', (_name, kind, input, value) => {
    const read = readWith(kind, input);
    expect(read.problems).toEqual([]);
    expect(Object.is(read.value, value)).toBe(true);
  });

  it.each([
    ['a fraction for an integer', integer(), 5.5, 'field.type', 'field must be an integer, not a number.'],
    ['words', integer(), 'five', 'field.type', 'field must be an integer, not a string.'],
    ['nothing', number(), '', 'field.type', 'field must be a number, not a string.'],
    ['hexadecimal', integer(), '0x10', 'field.type', 'field must be an integer, not a string.'],
    [
      'more than a number holds',
      number(),
      JSON.parse('1e999'),
      'field.type',
      'field must be a number, not a number that is too large.',
    ],
    ['a boolean', number(), true, 'field.type', 'field must be a number, not a boolean.'],
    ['below the least', integer({ min: 1, max: 52 }), 0, 'field.range', 'field must be from 1 to 52.'],
    ['above the most', integer({ min: 1, max: 52 }), 53, 'field.range', 'field must be from 1 to 52.'],
    ['below an open range', dollars({ min: 0 }), -0.01, 'field.range', 'field must be at least 0.'],
    ['above an open range', number({ max: 9 }), 10, 'field.range', 'field must be at most 9.'],
    ['an integer past exactness', integer(), 2 ** 53, 'field.type', 'field must be an integer, not a number.'],
    ['more money than is exact', dollars(), 1e13, 'field.range', 'field is more money than can be kept exactly.'],
  ])('refuse %s', (_name, kind, input, code, description) => {
    expect(readWith(kind, input)).toEqual({
      value: undefined,
      problems: [`${code} field`],
      descriptions: [description],
    });
  });
});

it('flags with digits become numbers, and other text is left for the reading to refuse', () => {
  for (const kind of [integer(), number(), dollars()]) {
    expect(['5', '-0.25', 'five', '', '1e3'].map((text) => kind.fromText(text))).toEqual([5, -0.25, 'five', '', '1e3']);
  }
  // As text an id of any size is exact.
  expect(id().fromText('9007199254740993')).toBe('9007199254740993');
});

describe('yesNo', () => {
  it.each([true, false])('reads %j', (input) => {
    expect(readWith(yesNo(), input)).toMatchObject({ value: input, problems: [] });
  });

  it.each(['true', 1, 0, [], {}])('refuses %j', (input) => {
    expect(readWith(yesNo(), input).problems).toEqual(['field.type field']);
  });

  it('makes booleans of flag text only', () => {
    expect(['true', 'false', 'yes'].map((text) => yesNo().fromText(text))).toEqual([true, false, 'yes']);
  });
});
