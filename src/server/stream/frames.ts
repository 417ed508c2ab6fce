import type { RoutingKeyMatch } from '../../catalog/stream/patterns.ts';
import type { StreamFormat } from './formats.ts';
import type { StoredMessage } from './outbox.ts';

/** Characters written to a listener at once: what a slow one keeps in memory is about that, and not the page it is of. */
const PIECE_CHARACTERS = 64 * 1024;

/** Some messages as they are written to listeners, framed once whoever they are written to. */
export class Piece {
  readonly bytes: Buffer;
  /** Number of its last message. */
  readonly last: number;
  /** Each routing key that its messages have, once. */
  private readonly distinctKeys: readonly string[];
  private readonly routingKeys: readonly string[];
  private readonly messageEnd: string;

  constructor(messages: readonly StoredMessage[], framed: readonly string[], { messageEnd }: StreamFormat) {
    this.bytes = Buffer.from(framed.join(''));
    this.last = (messages.at(-1) as StoredMessage).id;
    this.routingKeys = messages.map(({ routingKey }) => routingKey);
    this.distinctKeys = [...new Set(this.routingKeys)];
    this.messageEnd = messageEnd;
  }

  /** The messages that match, and how many they are: all of its own bytes when all do, as for most listeners. */
  matching(matches: RoutingKeyMatch): { readonly bytes: Buffer; readonly messages: number } {
    const wanted = new Set(this.distinctKeys.filter(matches));
    if (wanted.size === this.distinctKeys.length) return { bytes: this.bytes, messages: this.routingKeys.length };
    if (wanted.size === 0) return { bytes: Buffer.alloc(0), messages: 0 };
    const parts = [...this.parts()].filter((_, index) => wanted.has(this.routingKeys[index] as string));
    return { bytes: Buffer.concat(parts), messages: parts.length };
  }

  /** The bytes of each message: an envelope has no line break, so its end cannot be within it. */
  private *parts(): Generator<Buffer> {
    for (let begin = 0; begin < this.bytes.length; ) {
      const end = this.bytes.indexOf(this.messageEnd, begin) + this.messageEnd.length;
      yield this.bytes.subarray(begin, end);
      begin = end;
    }
  }
}

/** Frames messages in a format. */
export function piecesOf(messages: readonly StoredMessage[], format: StreamFormat): Piece[] {
  const pieces: Piece[] = [];
  let first = 0;
  let characters = 0;
  let framed: string[] = [];
  for (const [index, message] of messages.entries()) {
    const text = format.message(message);
    framed.push(text);
    characters += text.length;
    if (characters < PIECE_CHARACTERS && index < messages.length - 1) continue;
    pieces.push(new Piece(messages.slice(first, index + 1), framed, format));
    [first, characters, framed] = [index + 1, 0, []];
  }
  return pieces;
}
