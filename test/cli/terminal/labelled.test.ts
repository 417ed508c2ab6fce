import { describe, expect, it } from 'vitest';
import { labelled } from '../../../src/cli/terminal/labelled.ts';

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
