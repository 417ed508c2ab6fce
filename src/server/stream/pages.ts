import { EVENT_STREAM_TYPE, NDJSON_TYPE } from '../../catalog/stream/messages.ts';
import type { RoutingKeyMatch } from '../../catalog/stream/patterns.ts';
import type { Reach } from '../store/reach.ts';
import type { SentMessage, StoredMessage } from './outbox.ts';
import { type Positions, positionText } from './positions.ts';

/** Maximum bytes of cached pages: listeners that replay together share them even when some lag behind. */
const MAX_CACHED_BYTES = 16 * 1024 * 1024;

/** A page that was not requested for this long is evicted. */
const UNUSED_MS = 1000;

/** Messages that listeners read at once, as they are written; none when there are no messages. */
export interface StreamPage {
  readonly frames: readonly Frame[];
  /** What the organization had of the stream right after they were read. */
  readonly positions: Positions;
}

/** Messages as they are read, and what their organization had of the stream right after. */
export interface ReadPage extends Pick<StreamPage, 'positions'> {
  readonly messages: readonly StoredMessage[];
}

interface CachedPage {
  readonly page: Promise<StreamPage>;
  /** 0 until the page is read. A page with messages is not invalidated by later writes. */
  bytes: number;
  /** Of the process's clock, milliseconds. */
  usedAt: number;
}

/** A cache of the pages that listeners are reading: each is read and framed once for all listeners at that position. */
export class SharedPages {
  /** The least recently used come first. */
  private readonly pages = new Map<string, CachedPage>();
  private cachedBytes = 0;
  private sweeping: NodeJS.Timeout | undefined;

  constructor(private readonly read: (reach: Reach, after: number) => Promise<ReadPage>) {}

  /**
   * Messages within reach after a number of an epoch; it may end before the newest one, and is empty only when there are
   * none.
   */
  page(reach: Reach, epoch: string, after: number, format: StreamFormat): Promise<StreamPage> {
    const name = JSON.stringify([reach.org, epoch, after, format.type, reach.locations]);
    const shared = this.pages.get(name) ?? this.started(name, reach, epoch, after, format);
    this.pages.delete(name);
    this.pages.set(name, shared);
    shared.usedAt = performance.now();
    this.sweeping ??= setTimeout(() => this.sweep(), UNUSED_MS).unref();
    return shared.page;
  }

  /** There are newer messages: a page without messages, or still being read, may lack them. */
  advance(): void {
    for (const [name, { bytes }] of this.pages) if (bytes === 0) this.pages.delete(name);
  }

  private started(name: string, reach: Reach, epoch: string, after: number, format: StreamFormat): CachedPage {
    const page = this.read(reach, after).then(({ messages, positions }) => ({
      frames: framesOf(messages, format, epoch),
      positions,
    }));
    const shared: CachedPage = { page, bytes: 0, usedAt: 0 };
    page.then(
      ({ frames }) => {
        if (this.pages.get(name) !== shared) return;
        shared.bytes = frames.reduce((sum, { bytes }) => sum + bytes.length, 0);
        this.cachedBytes += shared.bytes;
        this.trim();
      },
      () => {
        if (this.pages.get(name) === shared) this.pages.delete(name);
      },
    );
    return shared;
  }

  /** Evicts the least recently used pages; one that is still being read has no bytes yet. */
  private trim(): void {
    for (const [name, shared] of this.pages) {
      if (this.cachedBytes <= MAX_CACHED_BYTES) return;
      if (shared.bytes > 0) this.evict(name, shared);
    }
  }

  private sweep(): void {
    const since = performance.now() - UNUSED_MS;
    for (const [name, shared] of this.pages) {
      if (shared.usedAt > since) break;
      this.evict(name, shared);
    }
    this.sweeping = this.pages.size === 0 ? undefined : this.sweeping?.refresh();
  }

  private evict(name: string, { bytes }: CachedPage): void {
    this.pages.delete(name);
    this.cachedBytes -= bytes;
  }
}

/** Characters written to a listener at once: about what a slow one occupies in memory, instead of a whole page. */
const FRAME_CHARACTERS = 64 * 1024;

/** Messages that a listener gets: their bytes, how many they are, the records they tell of, and whose data those are. */
export interface Told {
  readonly bytes: Buffer;
  readonly messages: number;
  readonly records: readonly number[];
  readonly patients: readonly number[];
}

type Head = Pick<StoredMessage, 'routingKey' | 'recordId' | 'patientId'>;

/** Some messages as they are written to listeners, framed once whoever they are written to. */
export class Frame {
  readonly bytes: Buffer;
  /** Number of its last message. */
  readonly last: number;
  /** Each routing key that its messages have, once. */
  private readonly distinctKeys: readonly string[];
  private readonly messageEnd: string;

  /** All of its messages. */
  private readonly whole: Told;
  private readonly heads: readonly Head[];

  constructor(messages: readonly StoredMessage[], framed: readonly string[], { messageEnd }: StreamFormat) {
    this.bytes = Buffer.from(framed.join(''));
    this.last = (messages.at(-1) as StoredMessage).number;
    // Without their texts, which would be held beside the bytes.
    this.heads = messages
      .filter(({ hidden }) => !hidden)
      .map(({ routingKey, recordId, patientId }) => ({ routingKey, recordId, patientId }));
    this.whole = toldBy(this.bytes, this.heads);
    this.distinctKeys = [...new Set(this.heads.map(({ routingKey }) => routingKey))];
    this.messageEnd = messageEnd;
  }

  /** The messages that match: all of its own bytes when all do, as for most listeners. */
  matching(matches: RoutingKeyMatch): Told {
    const wanted = new Set(this.distinctKeys.filter(matches));
    if (wanted.size === this.distinctKeys.length) return this.whole;
    if (wanted.size === 0) return toldBy(Buffer.alloc(0), []);
    const isWanted = (index: number) => wanted.has(this.heads[index]?.routingKey as string);
    const parts = [...this.parts()].filter((_, index) => isWanted(index));
    return toldBy(
      Buffer.concat(parts),
      this.heads.filter((_, index) => isWanted(index)),
    );
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

function toldBy(bytes: Buffer, messages: readonly Head[]): Told {
  const all = (ids: (number | null)[]) => ids.filter((id) => id !== null);
  return {
    bytes,
    messages: messages.length,
    records: all(messages.map(({ recordId }) => recordId)),
    patients: all(messages.map(({ patientId }) => patientId)),
  };
}

/** Frames messages in a format. */
export function framesOf(messages: readonly StoredMessage[], format: StreamFormat, epoch: string): Frame[] {
  const frames: Frame[] = [];
  let first = 0;
  let characters = 0;
  let framed: string[] = [];
  for (const [index, message] of messages.entries()) {
    const text = message.hidden ? '' : format.message(message, positionText(epoch, message.number));
    framed.push(text);
    characters += text.length;
    if (characters < FRAME_CHARACTERS && index < messages.length - 1) continue;
    frames.push(new Frame(messages.slice(first, index + 1), framed, format));
    [first, characters, framed] = [index + 1, 0, []];
  }
  return frames;
}

/** How messages are written to a listener (D42). */
export interface StreamFormat {
  readonly type: string;
  /** What comes before the first message: where the stream begins, and warnings where the format has room for them. */
  readonly opening: (position: string, warnings: readonly string[]) => string;
  /** `position`: of the message itself, to resume behind it. */
  readonly message: (message: SentMessage, position: string) => string;
  /** How each message ends, and what is nowhere within one. */
  readonly messageEnd: string;
  /** Says that the connection lives, and up to which message the listener has seen all that it asked for. */
  readonly heartbeat: (position: string) => string;
  /** What comes last when the server ends the stream and says why. */
  readonly ending: (why: string) => string;
}

/** Milliseconds after which a browser connects again. */
const RETRY_MS = 1000;

/** Server-Sent Events: `id` is the position to resume from, `event` the operation, `data` the envelope on one line. */
export const EVENTS: StreamFormat = {
  type: `${EVENT_STREAM_TYPE}; charset=utf-8`,
  opening: (position, warnings) =>
    `: from ${position}\n${warnings.map((warning) => `: warning: ${warning}\n`).join('')}retry: ${RETRY_MS}\n\n`,
  message: ({ operation, text }, position) => `id: ${position}\nevent: ${operation}\ndata: ${text}\n\n`,
  messageEnd: '\n\n',
  heartbeat: (position) => `: heartbeat ${position}\n\n`,
  ending: (why) => `: ${why}\n\n`,
};

/** One envelope a line; a heartbeat is an empty line, which readers skip. */
export const LINES: StreamFormat = {
  type: NDJSON_TYPE,
  opening: () => '',
  message: ({ text }) => `${text}\n`,
  messageEnd: '\n',
  heartbeat: () => '\n',
  ending: () => '',
};

/** The format that an Accept header asks for: lines when it names them before events, or without. */
export function formatFor(accept: string | undefined): StreamFormat {
  const types = (accept ?? '').split(',').map((part) => part.split(';')[0]?.trim().toLowerCase());
  const wanted = types.find((type) => type === NDJSON_TYPE || type === EVENT_STREAM_TYPE);
  return wanted === NDJSON_TYPE ? LINES : EVENTS;
}
