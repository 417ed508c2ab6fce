import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonBytes, MAX_OVERCOPY } from '../../../src/core/jsonscan/jsonbytes.ts';
import { ByteToken } from '../../../src/core/jsonscan/tokens.ts';
import { viewOf } from '../../../src/core/utf8builder.ts';
import { anyCharacter } from '../../support/characters.ts';

interface Stepped {
  readonly end: number;
  readonly plain: boolean;
  readonly comma: boolean;
}

/** Steps over a value that something else follows; undefined where that cannot be done. */
function stepped(text: string): Stepped | undefined {
  const json = new JsonBytes();
  json.open(Buffer.from(text));
  return json.value() ? { end: json.at, plain: json.plain, comma: json.comma } : undefined;
}

const length = (text: string) => Buffer.byteLength(text);

describe('JsonBytes', () => {
  it.each([
    ['null', 'null'],
    ['true', 'true'],
    ['false', 'false'],
    ['an empty string', '""'],
    ['text', '"Ann"'],
    ['text beyond 16 bits', '"𠮷野 Zoë"'],
    ['zero', '0'],
    ['a whole number', '7000000000001'],
    ['fifteen digits', '999999999999999'],
    ['cents', '-12.05'],
    ['less than one', '-0.5'],
    ['a millionth', '0.000001'],
    ['an empty array', '[]'],
    ['an empty object', '{}'],
    ['nested values', '{"a":[1,"x",{"b":null}],"c":{"id":5}}'],
  ])('takes %s as it stands', (_, text) => {
    expect(stepped(`${text},"next"`)).toEqual({ end: length(text), plain: true, comma: false });
    expect(JSON.stringify(JSON.parse(text))).toBe(text);
  });

  it.each([
    ['a quote in text', '"a\\"b"'],
    ['a backslash at the end of text', '"a\\\\"'],
    ['a letter written as its number', '"\\u00e9"'],
    ['a slash that need not be escaped', '"a\\/b"'],
    ['a fraction with a zero at its end', '1.50'],
    ['a whole fraction', '1.0'],
    ['minus zero', '-0'],
    ['an exponent', '1e3'],
    ['a number that no number keeps', '9007199254740993'],
    ['many digits around the point', '12345678901.12345'],
    ['a fraction that is written with an exponent', '0.0000001'],
    ['names that count', '{"2":"b","1":"a"}'],
    ['text with an escape in an array', '["a\\nb"]'],
  ])('leaves %s to the parser', (_, text) => {
    expect(stepped(`${text}]`)).toMatchObject({ end: length(text), plain: false });
    expect(() => JSON.parse(text)).not.toThrow();
  });

  it.each([
    ['a number with a zero before it', '01'],
    ['a lone minus', '-'],
    ['a number without digits after its point', '1.'],
    ['two numbers in one', '1-2'],
    ['an escape that is none', '"\\x"'],
  ])('does not take %s for plain', (_, text) => {
    expect(stepped(text)?.plain).toBe(false);
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  });

  it.each([
    ['nothing', ''],
    ['a blank', ' 1'],
    ['a word', 'nul'],
    ['text without an end', '"abc'],
    ['text that ends in a backslash', '"abc\\'],
    ['a tab in text', '"a\tb"'],
    ['a line break in text', '"a\nb"'],
    ['a blank in an array', '[1, 2]'],
    ['a comma too many in an array', '[1,]'],
    ['an array without an end', '[1'],
    ['a comma too many in an object', '{"a":1,}'],
    ['a name without quotes', '{a:1}'],
    ['a name without a value', '{"a"}'],
    ['an object without an end', '{"a":1'],
    ['values too deep', `${'['.repeat(40)}${']'.repeat(40)}`],
  ])('does not step over %s', (_, text) => {
    expect(stepped(text)).toBeUndefined();
  });

  it('tells a comma in text, and none between values', () => {
    expect(stepped('"Smith, Ann"')).toMatchObject({ comma: true });
    expect(stepped('[1,2]')).toMatchObject({ comma: false });
  });

  it('steps over whatever JSON.stringify writes, and is right about what is plain', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        const found = stepped(`${text},`);
        expect(found?.end).toBe(length(text));
      }),
      { numRuns: 500 },
    );
  });

  it('takes for plain only what comes out of a parser as it went in', () => {
    const digits = fc.stringMatching(/^-?\d{0,18}(\.\d{0,9})?([eE][+-]?\d{0,3})?$/);
    fc.assert(
      fc.property(digits, (text) => {
        const found = stepped(text);
        const parsed = isJson(text) ? JSON.stringify(JSON.parse(text)) : undefined;
        if (found?.plain === true) expect(parsed).toBe(text);
        if (parsed !== undefined) expect(found?.end).toBe(text.length);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a copy of a part of a text', () => {
  it('is that part to the byte, wherever it stands', () => {
    const unit = fc.oneof(
      fc.constantFrom('\x7f', '\u{10ffff}', '\u{1f600}', 'é'),
      fc.string({ unit: anyCharacter, minLength: 1 }),
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 12 }), fc.nat(), fc.nat(), fc.nat(9), (units, one, other, to) => {
        const bytes = Buffer.from(units.join(''));
        const [start = 0, end = 0] = [one, other].map((at) => at % (bytes.length + 1)).sort((a, b) => a - b);
        const target = Buffer.alloc(to + bytes.length + MAX_OVERCOPY, 1);
        const json = new JsonBytes();
        json.open(bytes);
        json.copy(viewOf(target), to, start, end);
        expect(target.subarray(to, to + end - start).equals(bytes.subarray(start, end))).toBe(true);
        expect(target.subarray(0, to).every((byte) => byte === 1)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

describe('ByteToken', () => {
  it('is at a place where all its bytes are, and at no other', () => {
    const text = fc.string({ minLength: 4, maxLength: 40 });
    fc.assert(
      fc.property(text, fc.nat(9), fc.nat(), fc.integer({ min: 1, max: 255 }), (token, at, place, change) => {
        const bytes = Buffer.concat([Buffer.alloc(at, 32), Buffer.from(token)]);
        const isThere = () => new ByteToken(token).isAt(viewOf(bytes), at, bytes.length);
        expect(isThere()).toBe(true);
        const changed = at + (place % (bytes.length - at));
        bytes[changed] = (bytes[changed] as number) ^ change;
        expect(isThere()).toBe(false);
        expect(new ByteToken(`${token}x`).isAt(viewOf(bytes), at, bytes.length)).toBe(false);
      }),
      { numRuns: 200 },
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
