import type { StreamFormat } from './formats.ts';
import type { StoredMessage } from './outbox.ts';

/** Bytes written to a listener at once: what a slow one keeps in memory is about that, and not the page it is of. */
const PIECE_BYTES = 64 * 1024;

/** Pages held at most; most listeners stand at the end, and those that replay together stay close to each other. */
const SHARED_PAGES = 8;

/** A page that nobody has asked for in so long is let go of when there are newer messages. */
const UNUSED_MS = 1000;

/** Some messages of a page as they are written: `bytes` is all of them, and the one at `index` ends before `ends[index]`. */
export interface Piece {
  readonly messages: readonly StoredMessage[];
  readonly ends: readonly number[];
  readonly bytes: Buffer;
}

/** Messages that listeners read at once; they are framed once in each format, whoever they are written to. */
export class StreamPage {
  readonly messages: readonly StoredMessage[];
  private readonly framed = new Map<StreamFormat, readonly Piece[]>();

  constructor(messages: readonly StoredMessage[]) {
    this.messages = messages;
  }

  pieces(format: StreamFormat): readonly Piece[] {
    const known = this.framed.get(format);
    if (known !== undefined) return known;
    const pieces = [...piecesOf(this.messages, format)];
    this.framed.set(format, pieces);
    return pieces;
  }
}

function* piecesOf(messages: readonly StoredMessage[], format: StreamFormat): Generator<Piece> {
  let first = 0;
  let parts: Buffer[] = [];
  let ends: number[] = [];
  for (const [index, message] of messages.entries()) {
    const part = Buffer.from(format.message(message));
    parts.push(part);
    ends.push((ends.at(-1) ?? 0) + part.length);
    if ((ends.at(-1) ?? 0) < PIECE_BYTES && index < messages.length - 1) continue;
    yield { messages: messages.slice(first, index + 1), ends, bytes: Buffer.concat(parts) };
    [first, parts, ends] = [index + 1, [], []];
  }
}

interface Shared {
  readonly page: Promise<StreamPage>;
  /** It has come, and has messages: what is written later cannot make it wrong. */
  whole: boolean;
  /** Of the process's clock, milliseconds. */
  usedAt: number;
}

/** The pages that listeners are reading, each read once for all who stand at the same place. */
export class SharedPages {
  private readonly read: (org: number, after: number) => Promise<readonly StoredMessage[]>;
  private readonly pages = new Map<string, Shared>();

  constructor(read: (org: number, after: number) => Promise<readonly StoredMessage[]>) {
    this.read = read;
  }

  /** Messages of an organization after a number; it may end before the newest one, and is empty only when there are none. */
  page(org: number, after: number): Promise<StreamPage> {
    const name = `${org} ${after}`;
    const known = this.pages.get(name);
    const shared = known ?? this.started(name, org, after);
    // Those used last are the last to go.
    this.pages.delete(name);
    this.pages.set(name, shared);
    shared.usedAt = performance.now();
    const [oldest] = this.pages.keys();
    if (this.pages.size > SHARED_PAGES && oldest !== undefined) this.pages.delete(oldest);
    return shared.page;
  }

  /** There are newer messages: a page that has none, or is still being read, may lack them. */
  advance(): void {
    const since = performance.now() - UNUSED_MS;
    for (const [name, { whole, usedAt }] of this.pages) if (!whole || usedAt < since) this.pages.delete(name);
  }

  private started(name: string, org: number, after: number): Shared {
    const page = this.read(org, after).then((messages) => new StreamPage(messages));
    const shared: Shared = { page, whole: false, usedAt: 0 };
    page.then(
      ({ messages }) => {
        shared.whole = messages.length > 0;
      },
      () => {
        if (this.pages.get(name) === shared) this.pages.delete(name);
      },
    );
    return shared;
  }
}
