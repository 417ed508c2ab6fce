import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePem, decodeText, NotText } from '../../src/text/decode.ts';
import { utf8Chunks } from '../../src/text/stream.ts';
import { anyCharacter } from '../support/characters.ts';

const LE = Buffer.from([0xff, 0xfe]);
const BE = Buffer.from([0xfe, 0xff]);

/** By hand, unit by unit. */
function utf16(text: string, mark: Buffer): Buffer {
  const units = [...Array(text.length).keys()].map((at) => text.charCodeAt(at));
  return Buffer.concat([
    mark,
    Buffer.from(units.flatMap((unit) => (mark === LE ? [unit & 255, unit >> 8] : [unit >> 8, unit & 255]))),
  ]);
}

const ENCODED: readonly (readonly [string, (text: string) => Buffer])[] = [
  ['UTF-8', (text) => Buffer.from(text)],
  ['UTF-8 with a mark', (text) => Buffer.from(`\ufeff${text}`)],
  ['UTF-16LE', (text) => utf16(text, LE)],
  ['UTF-16BE', (text) => utf16(text, BE)],
];

/** Text that no mark begins and that has no NUL: a second mark is a character of the text. */
const texts = fc
  .string({
    unit: fc.oneof(
      fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
      fc.constantFrom('\ufffd', '\n', '😀', '\ufeff', '上', '\u0d0a'),
    ),
  })
  .filter((text) => !text.startsWith('\ufeff') && !text.includes('\0'));

async function streamed(bytes: Buffer, sizes: readonly number[]): Promise<string> {
  async function* pieces() {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const end = at + (sizes[turn % sizes.length] ?? 1);
      yield bytes.subarray(at, end);
      at = end;
    }
  }
  const parts: Uint8Array[] = [];
  for await (const part of utf8Chunks(pieces())) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe.each(ENCODED)('%s', (_, encode) => {
  it('is any text, whole and in pieces of any size', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(texts, sizes, async (text, pieces) => {
        expect(decodeText(encode(text))).toBe(text);
        expect(await streamed(encode(text), pieces)).toBe(text);
      }),
    );
  });
});

const wrong = (bytes: Buffer, decode: (bytes: Buffer) => unknown = decodeText): unknown => {
  try {
    return decode(bytes);
  } catch (error) {
    return error;
  }
};

describe('bytes that are no text', () => {
  it.each([
    ['Windows-1252', Buffer.from('id\nCaf\xe9\n', 'latin1'), 2, 7, 'byte 7, in line 2, is 0xE9, which is not UTF-8'],
    [
      'after U+FFFD itself',
      Buffer.from('\xef\xbf\xbd\n\xef\xbf', 'latin1'),
      2,
      5,
      'byte 5, in line 2, is 0xEF, which is not UTF-8',
    ],
    [
      'after a mark',
      Buffer.from('\xef\xbb\xbfa\xff', 'latin1'),
      1,
      5,
      'byte 5, in line 1, is 0xFF, which is not UTF-8',
    ],
    ['half a pair', utf16('a\n\ud83d', LE), 2, 7, 'byte 7, in line 2, is 0x3DD8, which is half a character of UTF-16'],
    [
      'an odd byte',
      utf16('a\nb', BE).subarray(0, 7),
      2,
      7,
      'byte 7, in line 2, is 0x00, which is half a character of UTF-16',
    ],
    [
      'UTF-16 without a mark',
      Buffer.from('a\nb', 'utf16le'),
      1,
      2,
      'byte 2, in line 1, is 0x00: it is UTF-16 without a byte order mark, or no text',
    ],
    [
      'a NUL in UTF-16',
      utf16('a\n\0', LE),
      2,
      7,
      'byte 7, in line 2, is 0x00: it is UTF-16 without a byte order mark, or no text',
    ],
  ])('%s: the place is told', (_, bytes, line, byte, message) => {
    const error = wrong(bytes);
    expect(error).toBeInstanceOf(NotText);
    expect(error).toMatchObject({ line, byte, message, next: expect.stringContaining('Save it as UTF-8') });
  });

  it('every place of a wrong byte is told right', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const start = Buffer.from(before);
        const error = wrong(Buffer.concat([start, Buffer.from([0xff]), Buffer.from(after)]));
        const line = before.split('\n').length;
        // Two bytes that are the mark of UTF-16 at the very beginning name another encoding.
        if (start.length > 0) expect(error).toMatchObject({ line, byte: start.length + 1 });
      }),
    );
  });

  it('half a character of UTF-16 is told of a stream, with its place in the whole', async () => {
    const bytes = utf16(`${'é\n'.repeat(100)}\ud83dx`, BE);
    await expect(streamed(bytes, [3])).rejects.toMatchObject({ line: 101, byte: 403 });
    await expect(streamed(utf16('ab\n', LE).subarray(0, 7), [2])).rejects.toMatchObject({ line: 1, byte: 7 });
  });
});

it('a stream is converted as it arrives: nothing waits for more than the end of a character', async () => {
  let taken = 0;
  async function* endless() {
    for (yield LE; ; taken++) yield Buffer.from('a😀\n'.repeat(100), 'utf16le');
  }
  let got = 0;
  for await (const part of utf8Chunks(endless())) {
    got += part.length;
    if (got > 100_000) break;
  }
  expect(Math.abs(taken * 600 - got)).toBeLessThanOrEqual(600);
});

it('PEM may have words in any encoding between its blocks', () => {
  expect(decodePem(Buffer.from('Caf\xe9\n-----BEGIN X-----\n', 'latin1'))).toBe('Caf\xe9\n-----BEGIN X-----\n');
  expect(decodePem(Buffer.from('\ufeff-----BEGIN X-----\n'))).toBe('-----BEGIN X-----\n');
  expect(decodePem(utf16('-----BEGIN X-----\n', LE))).toBe('-----BEGIN X-----\n');
});
