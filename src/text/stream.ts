import { decodeUtf16, encodingOf, MARK_BYTES, type Start } from './decode.ts';

/**
 * The bytes of a text as UTF-8 without a byte order mark, as they arrive: a file of any size takes the memory of a chunk.
 * UTF-8 passes as it is, unchecked: whoever splits it into lines decodes each (`decodeUtf8`). Rejects with `NotText`
 * for half a character of UTF-16.
 */
export async function* utf8Chunks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let convert: ((chunk: Uint8Array) => Uint8Array) | undefined;
  let finish = () => {};
  let head: Uint8Array = new Uint8Array();
  const begin = () => {
    const { name, mark } = encodingOf(head);
    if (name === 'utf-8') convert = (chunk) => chunk;
    else ({ convert, finish } = utf16Converter(name, mark));
    return convert(head.subarray(mark));
  };
  for await (const chunk of source) {
    if (convert !== undefined) {
      yield convert(chunk);
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length >= MARK_BYTES) yield begin();
  }
  if (convert === undefined) yield begin();
  finish();
}

/** Converts chunk by chunk; `finish` throws `NotText` when the last one has ended within a character. */
function utf16Converter(encoding: 'utf-16le' | 'utf-16be', mark: number) {
  let start: Start = { line: 1, byte: mark };
  let rest: Uint8Array = new Uint8Array();
  const convert = (chunk: Uint8Array): Uint8Array => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = wholeCharacters(bytes, encoding);
    rest = Buffer.from(bytes.subarray(end));
    const text = decodeUtf16(bytes.subarray(0, end), encoding, start);
    start = { line: start.line + text.split('\n').length - 1, byte: start.byte + end };
    return Buffer.from(text);
  };
  const finish = () => void decodeUtf16(rest, encoding, start);
  return { convert, finish };
}

/** Where the last character that is complete ends. */
function wholeCharacters(bytes: Uint8Array, encoding: 'utf-16le' | 'utf-16be'): number {
  const even = bytes.length & ~1;
  const high = bytes[encoding === 'utf-16le' ? even - 1 : even - 2] ?? 0;
  return high >= 0xd8 && high <= 0xdb ? even - 2 : even;
}
