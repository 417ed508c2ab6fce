import type { Clock } from '../clock.ts';
import { HourlyTask } from '../scheduler.ts';
import type { Store } from '../store/store.ts';
import type { StreamFormat } from './formats.ts';
import { messageBounds, readMessages, type StoredMessage } from './outbox.ts';
import { Tip } from './outboxhead.ts';
import { SharedPages, type StreamPage } from './pages.ts';
import { DAY_MS, deleteOldMessages, readFloor } from './retention.ts';

/** Messages in a page that listeners read at once. */
const PAGE_MESSAGES = 500;

/**
 * The stream of an open store, for everybody who reads it: listeners over HTTP and relays alike. A reader keeps the
 * number of the last message it has dealt with and pulls: `readMessages(after, limit)` until a page is empty, then
 * `beyond(after)` until there is more. Nothing is queued for a reader, so a slow one costs nothing.
 *
 *     let after = position;
 *     while (!signal.aborted) {
 *       const page = await stream.readMessages(after, 500);
 *       for (const message of page) await deal(message);
 *       after = page.at(-1)?.id ?? after;
 *       if (page.length === 0) await stream.beyond(after, 60_000, signal);
 *     }
 */
export class Stream {
  /** Listeners that are being served now. */
  listeners = 0;
  private readonly store: Store;
  private readonly clock: Clock;
  private readonly keptMs: number;
  private readonly tip: Tip;
  private lowest: number;
  private readonly began: number;
  private readonly pages: SharedPages;
  private readonly tidying: HourlyTask;

  private constructor(store: Store, clock: Clock, retentionDays: number, floor: number, newest: number) {
    this.store = store;
    this.clock = clock;
    this.keptMs = retentionDays * DAY_MS;
    this.lowest = floor;
    this.began = newest;
    this.tidying = new HourlyTask(store, 'stream', (signal) => this.tidy(signal));
    this.tip = new Tip(store, newest);
    this.pages = new SharedPages((org, after) => this.pageAfter(after, PAGE_MESSAGES, org));
    this.tip.onAdvance = () => this.pages.advance();
  }

  /** Opens the stream of a store. `retentionDays`: how long messages are kept. */
  static async open(store: Store, clock: Clock, retentionDays: number): Promise<Stream> {
    const floor = await readFloor(store.read);
    const newest = (await messageBounds(store.read))?.newest ?? floor;
    return new Stream(store, clock, retentionDays, floor, newest);
  }

  /** The highest number that is no longer kept: a reader that stands below it has missed messages. */
  get floor(): number {
    return this.lowest;
  }

  /** Number of the newest message known; messages written since are at most a moment away (`beyond`). */
  get newest(): number {
    return Math.max(this.tip.newest, this.lowest);
  }

  /** Messages written since this was opened, those of other processes included. */
  get written(): number {
    return this.newest - this.began;
  }

  /** Where the stream ends now: messages after this number come from commits after the call. */
  async position(): Promise<number> {
    await this.tip.look();
    return this.newest;
  }

  /** Number of the oldest message kept; undefined when none is. */
  async oldest(): Promise<number | undefined> {
    return (await messageBounds(this.store.read))?.oldest;
  }

  /**
   * Messages of all organizations after a number, in the order of commits: at most `limit`, and about 1 MiB; empty
   * only when there are none. Compare `floor` afterwards: when it is above `after`, messages in between are gone.
   */
  readMessages(after: number, limit: number): Promise<readonly StoredMessage[]> {
    return this.pageAfter(after, limit);
  }

  /** As `readMessages`, of one organization and as it is written, shared between all who stand at the same place. */
  page(org: number, after: number, format: StreamFormat): Promise<StreamPage> {
    return this.pages.page(org, after, format);
  }

  private async pageAfter(after: number, limit: number, org?: number): Promise<readonly StoredMessage[]> {
    const page = await readMessages(this.store.read, after, limit, org);
    // Another server on the same database may have deleted messages that this page would have had.
    this.lowest = Math.max(this.lowest, await readFloor(this.store.read));
    return page;
  }

  /**
   * Waits until there is a message of whichever organization after `seen`. Resolves false after `milliseconds`, when
   * `signal` is aborted, and when the stream is closed.
   */
  beyond(seen: number, milliseconds: number, signal?: AbortSignal): Promise<boolean> {
    if (this.newest > seen) return Promise.resolve(true);
    return this.tip.beyond(seen, milliseconds, signal);
  }

  /** Deletes what is older than the retention, now and every hour until this is closed. */
  keepTidy(): void {
    this.tidying.start();
  }

  /** Deletes what is older than the retention. */
  tidy(signal?: AbortSignal): Promise<void> {
    const raise = (floor: number) => {
      this.lowest = floor;
    };
    return deleteOldMessages(this.store, this.clock, this.keptMs, raise, signal);
  }

  /** Wakes everybody who waits, and ends tidying; the store may be closed afterwards. */
  async close(): Promise<void> {
    this.tip.close();
    await this.tidying.close();
  }
}
