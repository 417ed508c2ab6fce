import type { StreamFormat } from './formats.ts';
import { type Piece, piecesOf } from './frames.ts';
import type { StoredMessage } from './outbox.ts';

/** Bytes of pages held at most, so that those who replay together share them also when some are a good way behind. */
const HELD_BYTES = 16 * 1024 * 1024;

/** A page that nobody has asked for in so long is let go of. */
const UNUSED_MS = 1000;

/** Messages that listeners read at once, as they are written; none when there are no messages. */
export type StreamPage = readonly Piece[];

interface Shared {
  readonly page: Promise<StreamPage>;
  /** 0 until it has come. One that has messages cannot be made wrong by what is written later. */
  bytes: number;
  /** Of the process's clock, milliseconds. */
  usedAt: number;
}

/** The pages that listeners are reading, each read and framed once for all who stand at the same place. */
export class SharedPages {
  private readonly read: (org: number, after: number) => Promise<readonly StoredMessage[]>;
  /** Those used last are the last ones. */
  private readonly pages = new Map<string, Shared>();
  private held = 0;
  private sweeping: NodeJS.Timeout | undefined;

  constructor(read: (org: number, after: number) => Promise<readonly StoredMessage[]>) {
    this.read = read;
  }

  /** Messages of an organization after a number; it may end before the newest one, and is empty only when there are none. */
  page(org: number, after: number, format: StreamFormat): Promise<StreamPage> {
    const name = `${org} ${after} ${format.type}`;
    const shared = this.pages.get(name) ?? this.started(name, org, after, format);
    this.pages.delete(name);
    this.pages.set(name, shared);
    shared.usedAt = performance.now();
    this.sweeping ??= setTimeout(() => this.sweep(), UNUSED_MS).unref();
    return shared.page;
  }

  /** There are newer messages: a page that has none, or is still being read, may lack them. */
  advance(): void {
    for (const [name, { bytes }] of this.pages) if (bytes === 0) this.pages.delete(name);
  }

  private started(name: string, org: number, after: number, format: StreamFormat): Shared {
    const page = this.read(org, after).then((messages) => piecesOf(messages, format));
    const shared: Shared = { page, bytes: 0, usedAt: 0 };
    page.then(
      (pieces) => {
        if (this.pages.get(name) !== shared) return;
        shared.bytes = pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
        this.held += shared.bytes;
        this.makeRoom();
      },
      () => {
        if (this.pages.get(name) === shared) this.pages.delete(name);
      },
    );
    return shared;
  }

  /** Lets go of those used longest ago; one that is still being read takes none. */
  private makeRoom(): void {
    for (const [name, shared] of this.pages) {
      if (this.held <= HELD_BYTES) return;
      if (shared.bytes > 0) this.letGo(name, shared);
    }
  }

  private sweep(): void {
    const since = performance.now() - UNUSED_MS;
    for (const [name, shared] of this.pages) {
      if (shared.usedAt > since) break;
      this.letGo(name, shared);
    }
    this.sweeping = this.pages.size === 0 ? undefined : this.sweeping?.refresh();
  }

  private letGo(name: string, { bytes }: Shared): void {
    this.pages.delete(name);
    this.held -= bytes;
  }
}
