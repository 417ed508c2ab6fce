import { describe, expect, it } from 'vitest';
import { editDistance, nearest } from '../../src/core/nearest.ts';

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['abc', '', 3],
    ['abc', 'abc', 0],
    ['abc', 'abd', 1],
    ['abc', 'acb', 1],
    ['abc', 'abcd', 1],
    ['kitten', 'sitting', 3],
  ])('from %j to %j is %i', (from, to, distance) => {
    expect(editDistance(from, to)).toBe(distance);
    expect(editDistance(to, from)).toBe(distance);
  });
});

describe('nearest', () => {
  const names = ['firstName', 'lastName', 'gender', 'id'];
  it.each([
    ['lastNam', 'lastName'],
    ['lastname', 'lastName'],
    ['LASTNAME', 'lastName'],
    ['fristName', 'firstName'],
    ['ix', 'id'],
    ['phone', undefined],
    ['', undefined],
  ])('%j is %s', (name, expected) => {
    expect(nearest(name, names)).toBe(expected);
  });
});
