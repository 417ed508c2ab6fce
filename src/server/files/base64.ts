const ALPHABET = /^[A-Za-z0-9+/]*$/;
const SPACE = /[ \t\r\n]+/g;
/** `-` and `_`: the two that a decoder takes for digits and this alphabet does not have. */
const OTHER_DIGITS = [0x2d, 0x5f];
const PAD = 0x3d;

/**
 * Decodes base64 that arrives in pieces (RFC 4648: standard alphabet, padded; white space between is ignored, since
 * many encoders break lines). `push` and `end` return decoded bytes, or undefined once the text is not base64.
 */
export class Base64Decoder {
  private rest = '';
  private padding = 0;
  private broken = false;

  /**
   * As `push`, for a piece of nothing but digits and perhaps the padding at the end, which most are: far faster, since
   * the length of the result shows whether every character was decoded. Undefined for any other piece, of which nothing
   * is taken. The bytes are written to `buffer` where they fit.
   */
  pushDigits(piece: Buffer, buffer?: Buffer): Buffer | undefined {
    const pads = piece.at(-1) !== PAD ? 0 : piece.at(-2) !== PAD ? 1 : 2;
    const digits = piece.length - pads;
    const missing = this.rest === '' ? 0 : 4 - this.rest.length;
    if (this.broken || this.padding > 0 || digits < missing) return undefined;
    if (OTHER_DIGITS.some((digit) => piece.includes(digit))) return undefined;
    const whole = digits - ((digits - missing) % 4);
    const first = missing === 0 ? '' : this.rest + piece.toString('latin1', 0, missing);
    const rest = piece.toString('latin1', whole, digits);
    const length = ((first.length + whole - missing) / 4) * 3;
    const bytes =
      buffer !== undefined && length <= buffer.length ? buffer.subarray(0, length) : Buffer.allocUnsafe(length);
    const begun = bytes.write(first, 'base64');
    const written = begun + bytes.write(piece.toString('latin1', missing, whole), begun, 'base64');
    if (written !== bytes.length || !ALPHABET.test(rest)) return undefined;
    [this.rest, this.padding] = [rest, pads];
    return bytes;
  }

  push(text: string): Buffer | undefined {
    const piece = text.replace(SPACE, '');
    const firstPad = piece.indexOf('=');
    const digits = firstPad < 0 ? piece : piece.slice(0, firstPad);
    const pads = firstPad < 0 ? '' : piece.slice(firstPad);
    this.broken ||= (this.padding > 0 && digits !== '') || !ALPHABET.test(digits) || /[^=]/.test(pads);
    this.padding += pads.length;
    if (this.broken) return undefined;
    const all = this.rest + digits;
    const whole = all.length - (all.length % 4);
    this.rest = all.slice(whole);
    return Buffer.from(all.slice(0, whole), 'base64');
  }

  end(): Buffer | undefined {
    const fits =
      this.rest.length === 0 ? this.padding === 0 : this.rest.length > 1 && this.rest.length + this.padding === 4;
    return this.broken || !fits ? undefined : Buffer.from(this.rest, 'base64');
  }
}
