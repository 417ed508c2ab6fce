import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { STORED_RESOURCES } from '../../../src/catalog/catalog.ts';
import type { Fields } from '../../../src/catalog/fields/kind.ts';
import { anyWord, choice, codePoints, freeText, line, MAX_MARKS, text } from '../../../src/catalog/fields/text.ts';
import { REFERENCES } from '../../../src/catalog/resources/references.ts';
import { anyCharacter } from '../../support/characters.ts';
import { readWith } from './reading.ts';

const TOOTH = '\u{1f9b7}';

describe('text (D9)', () => {
  it('counts code points, whatever the characters are (property)', () => {
    const words = fc.oneof(fc.string({ unit: 'grapheme-ascii' }), fc.string({ unit: anyCharacter }));
    fc.assert(
      fc.property(words, fc.nat(20), (input, max) => {
        const trimmed = input.trim();
        fc.pre(!/(?![\t\n\r])\p{Cc}/u.test(input));
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
    ['with as many marks as are allowed', text(), `e${'\u0301'.repeat(MAX_MARKS)}`, `e${'\u0301'.repeat(MAX_MARKS)}`],
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
    [
      'of another length than one',
      text({ min: 2, max: 2 }),
      'a',
      'field.length',
      'field must have 2 characters, it has 1.',
    ],
    [
      'with more marks than any language has',
      text(),
      `e${'\u0301'.repeat(MAX_MARKS + 1)}`,
      'field.format',
      'field has more than 30 combining marks in a row.',
    ],
    ['too short', text({ min: 5, max: 10 }), ' 1234 ', 'field.length', 'field must have 5 to 10 characters, it has 4.'],
    [
      'blank where text must be',
      text({ min: 1 }),
      ' \n ',
      'field.length',
      'field must have at least 1 character, it has 0.',
    ],
    ['too long', text({ max: 1 }), 'ab', 'field.length', 'field must have at most 1 character, it has 2.'],
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

describe('limits of our own (contract §8)', () => {
  it.each([
    ['a line', line(), {}, 255],
    ['free text', freeText(), {}, 10_000],
    ['free text of a server with another limit', freeText(), { maxText: 12 }, 12],
    ['a line of a server with another limit for free text', line(), { maxText: 12 }, 255],
  ])('%s: in code points', (_name, kind, context, most) => {
    expect(readWith(kind, TOOTH.repeat(most), context).problems).toEqual([]);
    expect(readWith(kind, TOOTH.repeat(most + 1), context).problems).toEqual(['field.length field']);
  });

  it.each([['a line', line()] as const, ['free text', freeText()] as const])(
    '%s for another service: it has its own limits (D50)',
    (_name, kind) => {
      expect(readWith(kind, 'x'.repeat(10_001), { forService: true }).problems).toEqual([]);
    },
  );

  it('hold of every text that comes in, so that no field takes a text without end', () => {
    const open = [...STORED_RESOURCES.map((each) => [each.type, each.fields] as const), ...Object.entries(REFERENCES)]
      .flatMap(([type, fields]) => unlimited(fields, `${type}.`))
      .sort();
    // Bytes, links that are made anew, six digits, and a name whose base is limited.
    expect(open).toEqual([
      'DocumentV1.file.content',
      'DocumentV1.name',
      'DocumentV1.storage.cropped',
      'DocumentV1.storage.original',
      'DocumentV1.storage.resized',
      'DocumentV1.storage.thumbnail',
      'EventV1.color',
    ]);
  });
});

/** Fields that hold a text without limit. */
function unlimited(fields: Fields, prefix: string): string[] {
  return Object.entries(fields).flatMap(([name, { kind }]) => {
    const inner = kind.item ?? kind;
    if (inner.fields !== undefined) return unlimited(inner.fields, `${prefix}${name}.`);
    return inner.name === 'text' && inner.schema.maxLength === undefined && inner.schema.const === undefined
      ? [prefix + name]
      : [];
  });
}

/** C0 and C1 by their definition (ECMA-48): 00–1F and 80–9F, and DEL between them. */
const CONTROLS = [...Array(0x20).keys(), 0x7f, ...Array.from({ length: 0x20 }, (_, at) => 0x80 + at)].filter(
  (code) => ![0x09, 0x0a, 0x0d].includes(code),
);

describe('control characters (contract §8)', () => {
  it.each([['inside', 'a', 'b'] as const, ['at the start', '', 'b'] as const, ['at the end', 'a', ''] as const])(
    'are refused %s, whatever else the text holds',
    (_name, before, after) => {
      for (const code of CONTROLS) {
        for (const rest of ['', TOOTH]) {
          const read = readWith(text(), before + String.fromCodePoint(code) + after + rest);
          expect(read, `U+${code.toString(16)}`).toMatchObject({ value: undefined, problems: ['field.format field'] });
        }
      }
    },
  );

  it('but for tab and line breaks, and no other character is one', () => {
    for (const kept of ['a\tb', 'a\nb', 'a\rb', 'a\r\nb', 'a\u00a0b', 'a\u00adb', 'a\u2028b', 'a\u200eb', 'a~b']) {
      expect(readWith(text(), kept)).toMatchObject({ value: kept, problems: [] });
    }
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

  it('takes what another service may know where the list is open (D50), but an empty text', () => {
    const open = choice(['Cash', 'Check'], anyWord);
    const read = (input: string, forService: boolean) => readWith(open, input, { forService });
    expect(read(' Crypto ', true)).toMatchObject({ value: 'Crypto', problems: [] });
    expect(read('CASH', true)).toMatchObject({ value: 'Cash', problems: [] });
    expect(read('  ', true).problems).toEqual(['field.choice field']);
    expect(read('Crypto', false).problems).toEqual(['field.choice field']);
    expect(readWith(contact, 'Crypto', { forService: true }).problems).toEqual(['field.choice field']);
  });

  it('refuses what is no string', () => {
    expect(readWith(contact, 1).problems).toEqual(['field.type field']);
  });
});
