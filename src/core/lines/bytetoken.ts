/**
 * A token of JSON of at least four bytes, such as a name with its colon. It is compared four bytes at a time: names are
 * most of a page.
 */
export class ByteToken {
  readonly length: number;
  private readonly quads: Int32Array;
  /** The last four bytes, which may stand in the quads in part. */
  private readonly last: number;

  constructor(text: string) {
    const bytes = Buffer.from(text);
    this.length = bytes.length;
    this.quads = Int32Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readInt32LE(4 * index));
    this.last = bytes.readInt32LE(bytes.length - 4);
  }

  /** Whether it stands in a text at a place, which must be in it. */
  isAt(text: DataView, at: number): boolean {
    const { quads, length } = this;
    if (at + length > text.byteLength) return false;
    for (let index = 0; index < quads.length; index++) {
      if (text.getInt32(at + 4 * index, true) !== quads[index]) return false;
    }
    return text.getInt32(at + length - 4, true) === this.last;
  }
}
