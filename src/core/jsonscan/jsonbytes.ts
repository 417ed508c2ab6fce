import { viewOf } from '../utf8builder.ts';
import { ByteToken } from './bytetoken.ts';
import { Code } from './codes.ts';

/** Bytes of a string that need a look: controls, the quote, the backslash, and the comma. */
export const SPECIAL = new Uint8Array(256).fill(1, 0, 0x20);
for (const code of [Code.quote, Code.backslash, Code.comma]) SPECIAL[code] = 1;

export const MORE_COPIED = 7;

/** Deeper values are left to a parser that does not call itself. */
const DEEPEST = 32;
/** As many digits as every number keeps exactly. */
export const EXACT_DIGITS = 15;
/** Smaller fractions are written with an exponent. */
const LONGEST_FRACTION = 6;

/**
 * Steps over JSON in UTF-8 without blanks, as servers write it. Whatever else stands there, `value` says that it cannot
 * step over it; then the text is for a parser. Valid UTF-8 is taken for granted.
 */
export class JsonBytes {
  bytes: Uint8Array = new Uint8Array(0);
  at = 0;
  /**
   * What was stepped over stands as JSON.stringify writes what JSON.parse reads from it. Without that it may even be
   * wrong JSON: who steps over it must parse it. To be set before a step.
   */
  plain = true;
  /** The string that was stepped over has a comma. To be cleared before a step. */
  comma = false;
  view: DataView = new DataView(new ArrayBuffer(0));

  /** Begins with another text. */
  open(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.view = viewOf(bytes);
    this.at = 0;
  }

  /**
   * Copies a part of the text, and up to `MORE_COPIED` bytes beyond it, for which there must be room: what comes next is
   * written over them. Eight bytes go as one number; they stay what they are, as in UTF-8 they are never NaN.
   */
  copy(target: DataView, to: number, start: number, end: number): void {
    const { bytes, view } = this;
    let at = start;
    for (; at < end && at + 8 <= bytes.length; at += 8)
      target.setFloat64(to + at - start, view.getFloat64(at, true), true);
    for (; at < end; at++) target.setUint8(to + at - start, bytes[at] as number);
  }

  /** Steps over what is given, where it stands here. */
  token(token: ByteToken): boolean {
    if (!token.isAt(this.view, this.at, this.bytes.length)) return false;
    this.at += token.length;
    return true;
  }

  value(depth = 0): boolean {
    switch (this.bytes[this.at]) {
      case Code.quote:
        return this.string();
      case Code.openObject:
        return depth < DEEPEST && this.object(depth + 1);
      case Code.openArray:
        return depth < DEEPEST && this.array(depth + 1);
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
      plain &&= fraction > 0 && fraction <= LONGEST_FRACTION && bytes[end - 1] !== Code.zero;
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
      // A parser puts names that count before all others, in their own order.
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

export const NULL = new ByteToken('null');
const TRUE = new ByteToken('true');
const FALSE = new ByteToken('false');

export function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= Code.zero && code <= Code.nine;
}

/** What can go on after the digits of a number: all of it, so that a wrong number is told by the parser. */
export function isInNumber(code: number | undefined): boolean {
  return (
    isDigit(code) ||
    code === Code.e ||
    code === Code.E ||
    code === Code.plus ||
    code === Code.minus ||
    code === Code.point
  );
}
