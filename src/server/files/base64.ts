const ALPHABET = /^[A-Za-z0-9+/]*$/;
const SPACE = /[ \t\r\n]+/g;

/**
 * Decodes base64 that arrives in pieces (RFC 4648: standard alphabet, padded; white space between is ignored, since
 * many encoders break lines). `push` and `end` return decoded bytes, or undefined once the text is not base64.
 */
export class Base64Decoder {
  private rest = '';
  private padding = 0;
  private broken = false;

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
