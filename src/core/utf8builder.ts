/** UTF-8 text that grows at its end, in one buffer that is reused after `clear`. */
export class Utf8Builder {
  bytes: Buffer;
  /** The same memory. */
  view: DataView;
  length = 0;

  constructor(capacity: number) {
    this.bytes = Buffer.allocUnsafeSlow(capacity);
    this.view = viewOf(this.bytes);
  }

  /** Makes room for so many bytes more: `put` and `copy` do not check for it. */
  reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.bytes.length));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
    this.view = viewOf(larger);
  }

  put(byte: number): void {
    this.bytes[this.length++] = byte;
  }

  copy(source: Uint8Array, start: number, end: number): void {
    const { bytes } = this;
    let to = this.length;
    // Most cells have few bytes, for which a loop is faster than a call.
    for (let from = start; from < end; from++) bytes[to++] = source[from] as number;
    this.length = to;
  }

  append(source: Uint8Array): void {
    this.reserve(source.length);
    this.bytes.set(source, this.length);
    this.length += source.length;
  }

  text(text: string): void {
    // A UTF-16 unit takes three bytes at most.
    this.reserve(3 * text.length);
    this.length += this.bytes.write(text, this.length);
  }

  clear(): void {
    this.length = 0;
  }
}

/** A DataView of the same memory. */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
