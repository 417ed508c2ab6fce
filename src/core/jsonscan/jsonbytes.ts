import { viewOf } from '../utf8builder.ts';
import { ByteToken, Code } from './tokens.ts';

/** Bytes of a string that need a check: controls, the quote, the backslash, and the comma. */
const SPECIAL = new Uint8Array(256).fill(1, 0, 0x20);
for (const code of [Code.quote, Code.backslash, Code.comma]) SPECIAL[code] = 1;

/** Maximum bytes that `copy` writes beyond its range. */
export const MAX_OVERCOPY = 7;

/** Maximum nesting; deeper values are left to the parser. */
const MAX_DEPTH = 32;
/** Maximum digits that every number keeps exactly. */
const EXACT_DIGITS = 15;
/** Maximum digits of a fraction; smaller fractions are written with an exponent. */
const MAX_FRACTION = 6;

/** Steps over JSON in valid UTF-8 without blanks, as servers write it; anything else is for a parser. */
export class JsonBytes {
  bytes: Uint8Array = new Uint8Array(0);
  at = 0;
  /**
   * What was stepped over is written as JSON.stringify would write it. Otherwise it may even be wrong JSON and has to be
   * parsed. To be set before a step.
   */
  plain = true;
  /** The string that was stepped over has a comma. To be cleared before a step. */
  comma = false;
  view: DataView = new DataView(new ArrayBuffer(0));

  /** Starts with another text. */
  open(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.view = viewOf(bytes);
    this.at = 0;
  }

  /**
   * Copies a part of the text and up to `MAX_OVERCOPY` bytes beyond it, for which there must be room: what comes next is
   * written over them. Eight bytes go as one number and stay the same, as UTF-8 is never NaN.
   */
  copy(target: DataView, to: number, start: number, end: number): void {
    const { bytes, view } = this;
    let at = start;
    for (; at < end && at + 8 <= bytes.length; at += 8)
      target.setFloat64(to + at - start, view.getFloat64(at, true), true);
    for (; at < end; at++) target.setUint8(to + at - start, bytes[at] as number);
  }

  /** Steps over a token, where it is the next. */
  token(token: ByteToken): boolean {
    if (!token.isAt(this.view, this.at, this.bytes.length)) return false;
    this.at += token.length;
    return true;
  }

  /** Steps over any value; false where it cannot. */
  value(depth = 0): boolean {
    switch (this.bytes[this.at]) {
      case Code.quote:
        return this.string();
      case Code.openObject:
        return depth < MAX_DEPTH && this.object(depth + 1);
      case Code.openArray:
        return depth < MAX_DEPTH && this.array(depth + 1);
      case Code.n:
        return this.token(NULL);
      case Code.t:
        return this.token(TRUE);
      case Code.f:
        return this.token(FALSE);
      default:
        return this.number();
    }
  }

  /** Steps over a string; false where it cannot. */
  string(): boolean {
    const { bytes } = this;
    let at = this.at + 1;
    for (;;) {
      const code = bytes[at++];
      if (code === undefined) return false;
      if (SPECIAL[code] === 0) continue;
      if (code === Code.comma) this.comma = true;
      else if (code === Code.quote) {
        this.at = at;
        return true;
      } else if (code === Code.backslash) {
        this.plain = false;
        at++;
      } else return false;
    }
  }

  private number(): boolean {
    const { bytes } = this;
    const start = this.at;
    const whole = bytes[start] === Code.minus ? start + 1 : start;
    let at = this.digitsFrom(whole);
    let digits = at - whole;
    let plain = digits === 1 || (digits > 1 && bytes[whole] !== Code.zero);
    if (bytes[at] === Code.point) {
      const end = this.digitsFrom(at + 1);
      const fraction = end - at - 1;
      plain &&= fraction > 0 && fraction <= MAX_FRACTION && bytes[end - 1] !== Code.zero;
      digits += fraction;
      at = end;
    } else if (whole > start && bytes[whole] === Code.zero) plain = false;
    if (isInNumber(bytes[at])) {
      plain = false;
      while (isInNumber(bytes[at])) at++;
    }
    if (!plain || digits > EXACT_DIGITS) this.plain = false;
    this.at = at;
    return at > start;
  }

  private digitsFrom(start: number): number {
    const { bytes } = this;
    let at = start;
    while (isDigit(bytes[at])) at++;
    return at;
  }

  private array(depth: number): boolean {
    const { bytes } = this;
    if (bytes[++this.at] === Code.closeArray) return this.pass();
    for (;;) {
      if (!this.value(depth)) return false;
      if (bytes[this.at] === Code.closeArray) return this.pass();
      if (bytes[this.at] !== Code.comma) return false;
      this.at++;
    }
  }

  private object(depth: number): boolean {
    const { bytes } = this;
    if (bytes[++this.at] === Code.closeObject) return this.pass();
    for (;;) {
      if (bytes[this.at] !== Code.quote) return false;
      // A parser puts names that are numbers first, in numeric order.
      if (isDigit(bytes[this.at + 1])) this.plain = false;
      if (!this.string() || bytes[this.at] !== Code.colon) return false;
      this.at++;
      if (!this.value(depth)) return false;
      if (bytes[this.at] === Code.closeObject) return this.pass();
      if (bytes[this.at] !== Code.comma) return false;
      this.at++;
    }
  }

  private pass(): true {
    this.at++;
    return true;
  }
}

/** `null`. */
export const NULL = new ByteToken('null');
const TRUE = new ByteToken('true');
const FALSE = new ByteToken('false');

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= Code.zero && code <= Code.nine;
}

/** What can follow the digits of a number: all of it, so that the parser finds a wrong number. */
function isInNumber(code: number | undefined): boolean {
  return (
    isDigit(code) ||
    code === Code.e ||
    code === Code.E ||
    code === Code.plus ||
    code === Code.minus ||
    code === Code.point
  );
}

/** No position in a text. */
export const NONE = -1;

/** Where a string without a comma or escapes ends; `NONE` for any other. */
export function textEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (SPECIAL[bytes[at] as number] === 0) at++;
  return bytes[at] === Code.quote ? at : NONE;
}

/** Where a whole number ends that is written as JSON.stringify would; `NONE` for any other value. */
export function wholeEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (isDigit(bytes[at])) at++;
  const digits = at - start;
  const isPlain = digits === 1 || (digits > 1 && digits <= EXACT_DIGITS && bytes[start] !== Code.zero);
  return isPlain && !isInNumber(bytes[at]) ? at : NONE;
}

/** The whole number in digits that are few enough to be exact; undefined for anything else. */
export function wholeNumber(bytes: Uint8Array, start: number, end: number): number | undefined {
  if (end - start > EXACT_DIGITS) return undefined;
  let number = 0;
  for (let at = start; at < end; at++) {
    if (!isDigit(bytes[at])) return undefined;
    number = number * 10 + (bytes[at] as number) - Code.zero;
  }
  return number;
}

/** Whether a value with this first byte is an array or object. */
export function isNested(first: number | undefined): boolean {
  return first === Code.openObject || first === Code.openArray;
}
