/**
 * A token of JSON of at least four bytes, such as a name with its colon. It is compared eight bytes at a time, as numbers:
 * names are most of a page. Two different texts are never the same number, as neither has zeros.
 */
export class ByteToken {
  readonly length: number;
  private readonly octets: Float64Array;
  /** Where the last eight bytes begin, of which some may stand in the octets; and these, in halves. */
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

  /** Whether it stands in a text of this size at a place, which must be in it. */
  isAt(text: DataView, at: number, size: number): boolean {
    const { octets, halves, length, rest } = this;
    if (at + length > size) return false;
    for (let index = 0; index < octets.length; index++) {
      if (text.getFloat64(at + 8 * index, true) !== octets[index]) return false;
    }
    return text.getInt32(at + rest, true) === halves[0] && text.getInt32(at + length - 4, true) === halves[1];
  }
}
