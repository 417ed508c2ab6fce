import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonSplitter } from '../../../src/server/body/jsonsplit.ts';
import { anyCharacter } from '../../support/characters.ts';

interface Split {
  /** The strings at the path, still escaped. */
  readonly values: readonly string[];
  readonly rest: string;
  readonly found: number;
}

/** Splits a text given in chunks of the sizes listed, the last of them repeated. */
async function split(
  text: string,
  sizes: readonly number[] = [],
  path: readonly string[] = ['file', 'content'],
): Promise<Split> {
  const values: string[] = [];
  let open: Buffer[] = [];
  const splitter = new JsonSplitter(path, {
    async piece(bytes) {
      open.push(Buffer.from(bytes));
    },
    async end() {
      values.push(Buffer.concat(open).toString());
      open = [];
    },
  });
  const bytes = Buffer.from(text);
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[Math.min(turn, sizes.length - 1)] ?? bytes.length;
    await splitter.push(bytes.subarray(at, at + size));
    at += size;
  }
  expect(splitter.restBytes).toBe(splitter.rest().length);
  return { values, rest: splitter.rest().toString(), found: splitter.found };
}

describe('JsonSplitter', () => {
  it.each([
    ['the string at the path', '{"file":{"content":"abc","x":1}}', ['abc'], '{"file":{"content":"","x":1}}'],
    ['spaces everywhere', ' { "file" : { "content" : "abc" } } ', ['abc'], ' { "file" : { "content" : "" } } '],
    ['an empty string', '{"file":{"content":""}}', [''], '{"file":{"content":""}}'],
    [
      'escapes in the value',
      String.raw`{"file":{"content":"a\"b\\"}}`,
      [String.raw`a\"b\\`],
      '{"file":{"content":""}}',
    ],
    [
      'escapes in the keys',
      String.raw`{"fil\u0065":{"\u0063ontent":"abc"}}`,
      ['abc'],
      String.raw`{"fil\u0065":{"\u0063ontent":""}}`,
    ],
    [
      'a key that ends in an escape',
      String.raw`{"a\\":1,"file":{"content":"b"}}`,
      ['b'],
      String.raw`{"a\\":1,"file":{"content":""}}`,
    ],
    [
      'the path after other members',
      '{"a":[{"file":1}],"b":{"c":{}},"file":{"n":[1,2],"content":"d"}}',
      ['d'],
      '{"a":[{"file":1}],"b":{"c":{}},"file":{"n":[1,2],"content":""}}',
    ],
    [
      'the path twice',
      '{"file":{"content":"a"},"file":{"content":"b"}}',
      ['a', 'b'],
      '{"file":{"content":""},"file":{"content":""}}',
    ],
  ])('takes out %s', async (_name, text, values, rest) => {
    for (const sizes of [[], [1], [2], [3, 5, 1]])
      expect(await split(text, sizes)).toEqual({ values, rest, found: values.length });
  });

  it.each([
    ['a text of the same key elsewhere', '{"content":"a","other":{"content":"b"},"file":"c"}'],
    ['a path inside arrays', '{"file":[{"content":"a"}]}'],
    ['a deeper path', '{"x":{"file":{"content":"a"}},"file":{"y":{"content":"b"}}}'],
    ['a number, null or object at the path', '{"file":{"content":5,"b":null}}'],
    ['an object at the path', '{"file":{"content":{"content":"a"}}}'],
    ['an array at the path', '{"file":{"content":["a"]}}'],
    ['values that look like keys', '["file",{"a":"file","b":"content"}]'],
    ['keys in other letters', '{"File":{"content":"a"},"file":{"Content":"b"}}'],
    ['a string alone', '"file"'],
    ['nothing', ''],
  ])('leaves %s', async (_name, text) => {
    for (const sizes of [[], [1]]) expect(await split(text, sizes)).toEqual({ values: [], rest: text, found: 0 });
  });

  it('finds the path beside nesting of any depth', async () => {
    const deep = '['.repeat(3000) + ']'.repeat(3000);
    const text = `{"a":${deep},"file":{"b":${deep},"content":"x"}}`;
    expect(await split(text)).toMatchObject({ values: ['x'], rest: `{"a":${deep},"file":{"b":${deep},"content":""}}` });
  });

  it.each([
    '{"file":{"content":"abc',
    '{"file":{"content":"a\\',
    '{"file":',
    '}]}]{"file":{"content":"a"}}',
    '{{{"',
    String.raw`{"\u00":1}`,
  ])('leaves it to the parser to refuse %j', async (text) => {
    const { rest } = await split(text, [1]);
    expect(() => JSON.parse(rest)).toThrow();
  });

  const escaped = fc.oneof(
    fc.string({ unit: anyCharacter }).map((text) => JSON.stringify(text).slice(1, -1)),
    fc
      .array(
        fc.constantFrom(
          'a',
          '\\"',
          '\\\\',
          '\\/',
          '\\n',
          '\\u0041',
          '\\ud83e\\uddb7',
          '\u00e9',
          '\u{1f9b7}',
          '{',
          '}',
          '[',
          ':',
          ',',
        ),
        { maxLength: 30 },
      )
      .map((parts) => parts.join('')),
  );
  const json = fc.json({ maxDepth: 4 });
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 });

  it('splits any document in any chunks: the value is the same, the rest parses to the same (property)', async () => {
    const members = fc.array(
      fc.tuple(
        fc.string().filter((key) => key !== 'file'),
        json,
      ),
      { maxLength: 4 },
    );
    const inner = fc.array(
      fc.tuple(
        fc.string().filter((key) => key !== 'content'),
        json,
      ),
      { maxLength: 4 },
    );
    const place = fc.integer({ min: 0, max: 4 });
    await fc.assert(
      fc.asyncProperty(
        members,
        inner,
        place,
        place,
        escaped,
        sizes,
        async (outer, nested, at, nestedAt, value, chunks) => {
          const object = (pairs: readonly (readonly [string, string])[], key: string, text: string, index: number) => {
            const parts = pairs.map(([name, item]) => `${JSON.stringify(name)}:${item}`);
            return `{${parts.toSpliced(index, 0, `"${key}":${text}`).join(',')}}`;
          };
          const whole = (content: string) => object(outer, 'file', object(nested, 'content', content, nestedAt), at);
          const result = await split(whole(`"${value}"`), chunks);
          expect(result.values).toEqual([value]);
          expect(result.rest).toBe(whole('""'));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('leaves any document without the path as it is (property)', async () => {
    await fc.assert(
      fc.asyncProperty(json, sizes, async (text, chunks) => {
        const result = await split(text, chunks, ['no', 'such', 'path']);
        expect(result).toEqual({ values: [], rest: text, found: 0 });
      }),
    );
  });
});
