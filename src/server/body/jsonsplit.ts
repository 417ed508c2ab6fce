/** Receives the pieces of one JSON string value, still escaped, as bytes. */
export interface StringSink {
  piece(bytes: Buffer): Promise<void>;
  end(): Promise<void>;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
/** Maximum nesting that is followed: more than any body has. */
const MAX_DEPTH = 512;

/**
 * Splits a JSON text that arrives in chunks: the string at one path (such as file.content) goes to a sink as it arrives,
 * everything else is buffered, with an empty string in its place. The buffered text is then parsed as usual, which also
 * finds every syntax error, so this reader only has to follow strings, keys and nesting.
 */
export class JsonSplitter {
  private readonly others: Buffer[] = [];
  /** Bytes of the text without the values at the path. */
  restBytes = 0;
  /** Number of strings found at the path. */
  found = 0;
  private readonly containers: ('object' | 'array')[] = [];
  /** Containers open below MAX_DEPTH. */
  private deeper = 0;
  private readonly keys: string[] = [];
  private key: Buffer[] | undefined;
  private expectsKey = false;
  private state: 'outside' | 'string' | 'value' = 'outside';
  private escaped = false;

  constructor(
    private readonly path: readonly string[],
    private readonly sink: StringSink,
  ) {}

  async push(chunk: Buffer): Promise<void> {
    let at = 0;
    while (at < chunk.length) {
      if (this.state === 'value') at = await this.passValue(chunk, at);
      else if (this.state === 'string') at = this.passString(chunk, at);
      else at = this.passStructure(chunk, at);
    }
  }

  /** The JSON text without the value. */
  rest(): Buffer {
    return Buffer.concat(this.others);
  }

  private pass(bytes: Buffer): void {
    this.others.push(bytes);
    this.restBytes += bytes.length;
  }

  private passStructure(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === QUOTE) {
        this.pass(chunk.subarray(from, at + 1));
        this.startString();
        return at + 1;
      }
      this.follow(byte);
    }
    this.pass(chunk.subarray(from));
    return chunk.length;
  }

  private follow(byte: number | undefined): void {
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (this.containers.length === MAX_DEPTH) this.deeper++;
      else this.containers.push(byte === OPEN_OBJECT ? 'object' : 'array');
      this.expectsKey = byte === OPEN_OBJECT;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      if (this.deeper > 0) this.deeper--;
      else this.containers.pop();
      this.keys.length = Math.min(this.keys.length, this.containers.length);
      this.expectsKey = false;
    } else if (byte === COMMA) {
      this.expectsKey = this.containers.at(-1) === 'object';
    } else if (byte === COLON) {
      this.expectsKey = false;
    }
  }

  private startString(): void {
    this.escaped = false;
    if (this.expectsKey) {
      this.key = [];
      this.state = 'string';
    } else if (this.atPath()) {
      this.found++;
      this.state = 'value';
    } else {
      this.state = 'string';
    }
  }

  private atPath(): boolean {
    const { length } = this.path;
    if (this.containers.length !== length || this.containers.includes('array')) return false;
    return this.path.every((name, index) => this.keys[index] === name);
  }

  private passString(chunk: Buffer, from: number): number {
    const end = this.endOfString(chunk, from);
    const piece = chunk.subarray(from, end < 0 ? chunk.length : end + 1);
    this.pass(piece);
    this.key?.push(end < 0 ? piece : piece.subarray(0, -1));
    if (end < 0) return chunk.length;
    if (this.key !== undefined) {
      this.keys[this.containers.length - 1] = unescaped(Buffer.concat(this.key).toString());
      this.key = undefined;
      this.expectsKey = false;
    }
    this.state = 'outside';
    return end + 1;
  }

  private async passValue(chunk: Buffer, from: number): Promise<number> {
    const end = this.endOfString(chunk, from);
    await this.sink.piece(chunk.subarray(from, end < 0 ? chunk.length : end));
    if (end < 0) return chunk.length;
    await this.sink.end();
    this.pass(chunk.subarray(end, end + 1));
    this.state = 'outside';
    return end + 1;
  }

  /** Index of the closing quote, -1 where the string continues in the next chunk. */
  private endOfString(chunk: Buffer, from: number): number {
    let at = from;
    for (;;) {
      if (this.escaped) {
        if (at >= chunk.length) return -1;
        this.escaped = false;
        at++;
      }
      const quote = chunk.indexOf(QUOTE, at);
      const slash = chunk.indexOf(BACKSLASH, at);
      if (slash < 0 || (quote >= 0 && quote < slash)) return quote;
      this.escaped = true;
      at = slash + 1;
    }
  }
}

/** A key without its escapes; one that is no JSON text is left as it is, for the parser to refuse. */
function unescaped(key: string): string {
  if (!key.includes('\\')) return key;
  try {
    return String(JSON.parse(`"${key}"`));
  } catch {
    return key;
  }
}
