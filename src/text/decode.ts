import { isUtf8 } from 'node:buffer';

/**
 * Bytes that are no text. The message completes "FILE cannot be read as text: …" and names line, byte and value; `next` says what
 * would be right.
 */
export class NotText extends Error {
  readonly next: string;

  constructor(
    /** From 1. */
    readonly line: number,
    /** Its place in what was read, from 1. */
    readonly byte: number,
    what: string,
    next: string = SAVE_AS_UTF8,
  ) {
    super(`byte ${byte}, in line ${line}, ${what}`);
    this.name = 'NotText';
    this.next = next;
  }
}

/** What to do with a file in another encoding, such as that of Windows-1252. */
export const SAVE_AS_UTF8 =
  'Save it as UTF-8: in Excel as "CSV UTF-8 (Comma delimited)", in Notepad with the encoding UTF-8, in PowerShell with Set-Content -Encoding utf8.';

/** How a text is encoded, and how many bytes of a mark at its beginning say so. */
export interface Encoding {
  readonly name: 'utf-8' | 'utf-16le' | 'utf-16be';
  readonly mark: number;
}

/** Bytes that `encodingOf` has to see. */
export const MARK_BYTES = 3;

/** The encoding that a byte order mark names; UTF-8 where there is none. */
export function encodingOf([first, second, third]: Uint8Array): Encoding {
  if (first === 0xff && second === 0xfe) return { name: 'utf-16le', mark: 2 };
  if (first === 0xfe && second === 0xff) return { name: 'utf-16be', mark: 2 };
  return { name: 'utf-8', mark: first === 0xef && second === 0xbb && third === 0xbf ? 3 : 0 };
}

/**
 * The text of a file: UTF-8 with or without a byte order mark, or UTF-16 with one, as `>` of PowerShell 5 writes it.
 * Line ends stay as they are. Throws `NotText` for other bytes, and for a NUL, which no text has.
 */
export function decodeText(bytes: Uint8Array): string {
  const { name, mark } = encodingOf(bytes);
  const rest = bytes.subarray(mark);
  const start = { line: 1, byte: mark };
  const text = name === 'utf-8' ? decodeUtf8(rest, start) : decodeUtf16(rest, name, start);
  const nul = text.indexOf('\0');
  if (nul < 0) return text;
  const before = text.slice(0, nul);
  const width = name === 'utf-8' ? Buffer.byteLength(before) : 2 * nul;
  throw new NotText(lineAfter(before), mark + width + 1, 'is 0x00: it is UTF-16 without a byte order mark, or no text');
}

/**
 * The text of a file of keys or certificates (PEM): UTF-16 with a byte order mark, or ASCII. What stands between the blocks
 * is anybody's text in any encoding (RFC 7468, 2), so nothing else is refused. Throws `NotText` for wrong UTF-16.
 */
export function decodePem(bytes: Uint8Array): string {
  const { name, mark } = encodingOf(bytes);
  return name === 'utf-8' ? Buffer.from(bytes.subarray(mark)).toString('latin1') : decodeText(bytes);
}

/** Where bytes begin in what is read: their line, from 1, and how many bytes come before them. */
export interface Start {
  readonly line: number;
  readonly byte: number;
}

const BEGINNING: Start = { line: 1, byte: 0 };

/** UTF-8 as text; a byte order mark is a character. Throws `NotText`. */
export function decodeUtf8(bytes: Uint8Array, start = BEGINNING): string {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (isUtf8(bytes)) return whole.toString('utf8');
  const at = firstWrongByte(whole);
  const line = start.line + lineAfter(whole.toString('latin1', 0, at)) - 1;
  throw new NotText(line, start.byte + at + 1, `is ${hex(whole.subarray(at, at + 1))}, which is not UTF-8`);
}

/** UTF-16 without its mark as text. Throws `NotText` for half a character. */
export function decodeUtf16(bytes: Uint8Array, encoding: 'utf-16le' | 'utf-16be', start = BEGINNING): string {
  const even = bytes.subarray(0, bytes.length & ~1);
  const text = (encoding === 'utf-16be' ? Buffer.from(even).swap16() : Buffer.from(even)).toString('utf16le');
  const lone = text.search(/\p{Surrogate}/u);
  if (lone < 0 && even.length === bytes.length) return text;
  const units = lone < 0 ? text.length : lone;
  const at = units * 2;
  const line = start.line + lineAfter(text.slice(0, units)) - 1;
  throw new NotText(
    line,
    start.byte + at + 1,
    `is ${hex(bytes.subarray(at, at + 2))}, which is half a character of UTF-16`,
  );
}

/** The decoder puts U+FFFD in the place of what is wrong; one that the bytes spell out is a character like any other. */
function firstWrongByte(bytes: Uint8Array): number {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  let at = 0;
  let from = 0;
  for (let found = text.indexOf('\ufffd'); ; found = text.indexOf('\ufffd', from)) {
    at += Buffer.byteLength(text.slice(from, found));
    if (bytes[at] !== 0xef || bytes[at + 1] !== 0xbf || bytes[at + 2] !== 0xbd) return at;
    at += 3;
    from = found + 1;
  }
}

/** The line that follows a text, from 1. */
function lineAfter(text: string): number {
  return text.split('\n').length;
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex').toUpperCase()}`;
}
