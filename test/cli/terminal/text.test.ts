import { describe, expect, it } from 'vitest';
import { durationText, labelled } from '../../../src/cli/terminal/text.ts';

describe('labelled', () => {
  it.each<[string, number | undefined, string]>([
    ['one two three', undefined, 'A   one two three\n'],
    ['one two three', 11, 'A   one two\n    three\n'],
    ['one two three', 10, 'A   one\n    two\n    three\n'],
    ['incomprehensible', 8, 'A   incomprehensible\n'],
    ['', 8, 'A   \n'],
  ])('sets %j in %s columns', (text, width, expected) => {
    expect(labelled('A', text, 4, width)).toBe(expected);
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
