import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { choice, codePoints, text } from '../../../src/catalog/fields/text.ts';
import { readWith } from './reading.ts';

const TOOTH = '\u{1f9b7}';

describe('text (D9)', () => {
  it('counts code points, whatever the characters are (property)', () => {
    const words = fc.oneof(fc.string({ unit: 'grapheme-ascii' }), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(words, fc.nat(20), (input, max) => {
        const trimmed = input.trim();
        fc.pre(!trimmed.includes('\0'));
        const { problems, value } = readWith(text({ max }), input);
        if ([...trimmed].length > max) expect(problems).toEqual(['field.length field']);
        else expect(value).toBe(trimmed);
      }),
    );
  });

  it.each([
    ['as it is', text(), 'Ann', 'Ann'],
    ['trimmed', text(), ' \t\u00a0Ann Lee\n', 'Ann Lee'],
    ['not normalized', text(), 'e\u0301', 'e\u0301'],
    ['empty where allowed', text(), '  ', ''],
    ['at the lower limit', text({ min: 2 }), 'ab', 'ab'],
    ['at the upper limit', text({ max: 3 }), 'abc', 'abc'],
    ['at the upper limit after trimming', text({ max: 3 }), '  abc  ', 'abc'],
    ['at the upper limit in code points', text({ max: 3 }), TOOTH.repeat(3), TOOTH.repeat(3)],
    ['with a line break inside', text(), 'a\nb', 'a\nb'],
  ])('is kept %s', (_name, kind, input, value) => {
    expect(readWith(kind, input)).toEqual({ value, problems: [], descriptions: [] });
  });

  it.each([
    ['too long', text({ max: 3 }), 'abcd', 'field.length', 'field must have at most 3 characters, it has 4.'],
    [
      'too long in code points',
      text({ min: 1, max: 3 }),
      TOOTH.repeat(4),
      'field.length',
      'field must have 1 to 3 characters, it has 4.',
    ],
    ['too short', text({ min: 5, max: 10 }), ' 1234 ', 'field.length', 'field must have 5 to 10 characters, it has 4.'],
    [
      'blank where text must be',
      text({ min: 1 }),
      ' \n ',
      'field.length',
      'field must have at least 1 characters, it has 0.',
    ],
    ['with NUL', text(), 'a\0b', 'field.format', 'field must not contain the NUL character.'],
    ['with half a surrogate pair', text(), 'a\ud83eb', 'field.format', 'field holds half of a surrogate pair.'],
    ['with the other half', text(), '\uddb7', 'field.format', 'field holds half of a surrogate pair.'],
    ['against its rule', text({ rule: () => 'must rhyme.' }), 'a', 'field.format', 'field must rhyme.'],
    ['a number', text(), 5, 'field.type', 'field must be a string, not a number.'],
    ['an array', text(), ['a'], 'field.type', 'field must be a string, not an array.'],
    ['an object', text(), { a: 1 }, 'field.type', 'field must be a string, not an object.'],
    ['a boolean', text(), true, 'field.type', 'field must be a string, not a boolean.'],
  ])('is refused %s', (_name, kind, input, code, description) => {
    expect(readWith(kind, input)).toEqual({
      value: undefined,
      problems: [`${code} field`],
      descriptions: [description],
    });
  });

  it('counts code points', () => {
    expect(['', 'abc', TOOTH, `a${TOOTH}b`, 'e\u0301'].map(codePoints)).toEqual([0, 3, 1, 3, 2]);
  });
});

describe('choice (D8)', () => {
  const contact = choice(['Call me', 'Text me', 'Email me']);

  it.each(['Email me', 'EMAIL ME', 'email me', '  Email Me '])('takes %j', (input) => {
    expect(readWith(contact, input)).toMatchObject({ value: 'Email me', problems: [] });
  });

  it.each(['Email', '', 'toString', 'Email  me'])('refuses %j and lists what is right', (input) => {
    expect(readWith(contact, input)).toEqual({
      value: undefined,
      problems: ['field.choice field'],
      descriptions: ['field must be one of Call me, Text me, Email me.'],
    });
  });

  it('refuses what is no string', () => {
    expect(readWith(contact, 1).problems).toEqual(['field.type field']);
  });
});
