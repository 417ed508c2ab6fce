/** Bytes that JSON and CSV are written with. */
export const Code = {
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  quote: 0x22,
  apostrophe: 0x27,
  plus: 0x2b,
  comma: 0x2c,
  minus: 0x2d,
  point: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  equals: 0x3d,
  atSign: 0x40,
  E: 0x45,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  e: 0x65,
  f: 0x66,
  n: 0x6e,
  t: 0x74,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

/**
 * A token of JSON of at least four bytes, such as a name with its colon. It is compared eight bytes at a time, as numbers:
 * names are most of a page. Two different texts are never the same number, as neither has zeros.
 */
export class ByteToken {
  readonly length: number;
  private readonly octets: Float64Array;
  /** Where the last eight bytes begin, some of which may be in the octets; and these, in halves. */
  private readonly rest: number;
  private readonly halves: Int32Array;

  constructor(text: string) {
    const bytes = Buffer.from(text);
    this.length = bytes.length;
    this.octets = Float64Array.from({ length: Math.floor(bytes.length / 8) }, (_, index) =>
      bytes.readDoubleLE(8 * index),
    );
    this.rest = Math.max(0, bytes.length - 8);
    this.halves = Int32Array.of(bytes.readInt32LE(this.rest), bytes.readInt32LE(bytes.length - 4));
  }

  /** Whether it is at a position, which must be within the text of this size. */
  isAt(text: DataView, at: number, size: number): boolean {
    const { octets, halves, length, rest } = this;
    if (at + length > size) return false;
    for (let index = 0; index < octets.length; index++) {
      if (text.getFloat64(at + 8 * index, true) !== octets[index]) return false;
    }
    return text.getInt32(at + rest, true) === halves[0] && text.getInt32(at + length - 4, true) === halves[1];
  }
}
