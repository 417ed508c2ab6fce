import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Base64Decoder } from '../../../src/server/files/base64.ts';

/** Bytes of text given in pieces; undefined when it is no base64. The short way for digits must not make a difference. */
function decode(pieces: readonly string[]): Buffer | undefined {
  const close = decodeWith(pieces, (decoder, piece) => decoder.push(piece));
  const digits = decodeWith(
    pieces,
    (decoder, piece) => decoder.pushDigits(Buffer.from(piece, 'latin1')) ?? decoder.push(piece),
  );
  expect(digits).toEqual(close);
  const memory = Buffer.alloc(12);
  const reusing = decodeWith(pieces, (decoder, piece) => {
    const bytes = decoder.pushDigits(Buffer.from(piece, 'latin1'), memory);
    return bytes === undefined ? decoder.push(piece) : Buffer.from(bytes);
  });
  expect(reusing).toEqual(close);
  return close;
}

function decodeWith(
  pieces: readonly string[],
  push: (decoder: Base64Decoder, piece: string) => Buffer | undefined,
): Buffer | undefined {
  const decoder = new Base64Decoder();
  const parts = [...pieces.map((piece) => push(decoder, piece)), decoder.end()];
  return parts.includes(undefined) ? undefined : Buffer.concat(parts as Buffer[]);
}

/** Text cut at the places given. */
function cut(text: string, places: readonly number[]): string[] {
  const at = [0, ...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length];
  return at.slice(1).map((end, index) => text.slice(at[index], end));
}

describe('Base64Decoder', () => {
  it.each([
    ['digits', 'Zm9vYmFy', 'foobar'],
    ['one sign of padding, kept for the end', 'Zm9vYmE=', 'foo'],
    ['two signs of padding, kept for the end', 'Zm9vYg==', 'foo'],
    ['digits that go on in the next piece', 'Zm9vYm', 'foo'],
  ])('takes %s the short way', (_name, text, bytes) => {
    expect(new Base64Decoder().pushDigits(Buffer.from(text))?.toString()).toBe(bytes);
  });

  it.each([
    ['a line break', 'Zm9v\n'],
    ['the alphabet of addresses', 'Zm9-'],
    ['padding inside', 'Zg==Zg=='],
    ['what is no digit', 'Zm9!'],
    ['what is no digit behind whole groups', 'Zm9v!'],
    ['an escape', 'Zm9\\/'],
  ])('looks closely at %s, and has taken nothing of it', (_name, text) => {
    const decoder = new Base64Decoder();
    expect(decoder.pushDigits(Buffer.from(text))).toBeUndefined();
    expect(decoder.push('Zm9v')?.toString()).toBe('foo');
    expect(decoder.end()).toHaveLength(0);
  });

  it.each([
    ['no padding', 'Zm9v', 'foo'],
    ['one sign of padding', 'Zm8=', 'fo'],
    ['two signs of padding', 'Zg==', 'f'],
    ['nothing', '', ''],
    ['line breaks', 'Zm9v\r\nYmFy\n', 'foobar'],
    ['spaces and tabs', ' Z m\t9v ', 'foo'],
    ['a break inside the padding', 'Zg=\n=\n', 'f'],
    ['both special signs', '+/+/', '\xfb\xff\xbf'],
  ])('reads %s, in one piece or in many', (_name, text, bytes) => {
    expect(decode([text])?.toString('latin1')).toBe(bytes);
    expect(decode([...text])?.toString('latin1')).toBe(bytes);
  });

  it.each([
    'Z',
    'Zm',
    'Zm9',
    'Zg=',
    'Zm9=v',
    'Zm9v=',
    'Zm9v==',
    'Zm9v====',
    '====',
    '=',
    'Z===',
    'Zg==Zg==',
    'Zg== x',
    'Zm9-',
    'Zm9_',
    'Zm9v!',
    'Zm9\u00e9',
    'Zm9v\u00a0',
    'data:text/plain;base64,Zm9v',
    '%5A',
  ])('refuses %j, in one piece or in many', (text) => {
    expect(decode([text])).toBeUndefined();
    expect(decode([...text])).toBeUndefined();
  });

  it('reads any bytes in any chunks, line breaks among them (property)', () => {
    const breaks = fc.array(fc.tuple(fc.nat(), fc.constantFrom('\n', '\r\n', ' ')), { maxLength: 5 });
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        breaks,
        (bytes, places, spaces) => {
          let text = Buffer.from(bytes).toString('base64');
          for (const [at, space] of spaces)
            text = text.slice(0, at % (text.length + 1)) + space + text.slice(at % (text.length + 1));
          expect(decode(cut(text, places))).toEqual(Buffer.from(bytes));
        },
      ),
    );
  });

  it('reads what was encoded, and refuses it with a sign too few or too many (property)', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 50 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64');
        expect(decode([text.slice(0, -1)])).toBeUndefined();
        expect(decode([`${text}=`])).toBeUndefined();
      }),
    );
  });
});
