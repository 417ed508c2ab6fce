import sql from 'sql-template-tag';
import type { Clock } from '../clock.ts';
import { HourlyTask } from '../scheduler.ts';
import type { Reach } from '../store/reach.ts';
import type { Reader, Store } from '../store/store.ts';
import { messageBounds, readMessages, type StoredMessage } from './outbox.ts';
import { OutboxHead } from './outboxhead.ts';
import { SharedPages, type StreamFormat, type StreamPage } from './pages.ts';
import { FLOOR, type Positions, readPositions } from './positions.ts';

/** Messages per page of a listener. */
const PAGE_MESSAGES = 500;

/**
 * The stream of an open store, for all its readers: listeners over HTTP and relays alike. A reader remembers the id of
 * the last message it has processed and pulls: `readMessages(after, limit)` until a page is empty, then `beyond(after)`
 * until there is more. Nothing is queued for a reader, so a slow one costs nothing. Readers of one organization count by
 * its own numbers (`page`, `positionsOf`); the others here, over all organizations, are never told to anybody (D53).
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
  private readonly retentionMs: number;
  private readonly head: OutboxHead;
  private deletedUpTo: number;
  /** Floors of organizations, as last read. */
  private readonly floors = new Map<number, number>();
  private readonly began: number;
  private readonly pages: SharedPages;
  private readonly tidying: HourlyTask;

  private constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    retentionDays: number,
    floor: number,
    newest: number,
  ) {
    this.retentionMs = retentionDays * DAY_MS;
    this.deletedUpTo = floor;
    this.began = newest;
    this.tidying = new HourlyTask(store, 'stream', (signal) => this.tidy(signal));
    this.head = new OutboxHead(store, newest);
    this.pages = new SharedPages((reach, after) => this.pageAfter(after, PAGE_MESSAGES, reach));
    this.head.onAdvance = () => this.pages.advance();
  }

  /** Opens the stream of a store. `retentionDays`: how long messages are retained. */
  static async open(store: Store, clock: Clock, retentionDays: number): Promise<Stream> {
    const floor = await readFloor(store.read);
    const newest = (await messageBounds(store.read))?.newest ?? floor;
    return new Stream(store, clock, retentionDays, floor, newest);
  }

  /** The highest number that was deleted: a reader below it has missed messages. */
  get floor(): number {
    return this.deletedUpTo;
  }

  /** Number of the newest message known; messages written since are at most a moment away (`beyond`). */
  get newest(): number {
    return Math.max(this.head.newest, this.deletedUpTo);
  }

  /** Messages written since this was opened, including those of other processes. */
  get written(): number {
    return this.newest - this.began;
  }

  /** The current end of the stream: messages after this number come from commits after the call. */
  async position(): Promise<number> {
    await this.head.refresh();
    return this.newest;
  }

  /** Number of the oldest message; undefined when there is none. */
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

  /** What an organization has of the stream now: its messages after `newest` come from commits after the call. */
  positionsOf(org: number): Promise<Positions> {
    return readPositions(this.store.read, org);
  }

  /** As `floor`, of one organization and in its own numbers, when a page of it was last read. */
  floorOf(org: number): number {
    return this.floors.get(org) ?? 0;
  }

  /**
   * As `readMessages`, within reach, after a number of its organization, and framed for writing; shared between all
   * readers there at that position. Compare `floorOf` afterwards.
   */
  page(reach: Reach, after: number, format: StreamFormat): Promise<StreamPage> {
    return this.pages.page(reach, after, format);
  }

  private async pageAfter(after: number, limit: number, reach?: Reach): Promise<readonly StoredMessage[]> {
    const page = await readMessages(this.store.read, after, limit, reach);
    // Messages of this page may have been deleted, here or by another server on the same database.
    if (reach === undefined) this.deletedUpTo = Math.max(this.deletedUpTo, await readFloor(this.store.read));
    else this.floors.set(reach.org, Math.max(this.floorOf(reach.org), (await this.positionsOf(reach.org)).floor));
    return page;
  }

  /**
   * Waits for a message of any organization after `seen`. Resolves false after `milliseconds`, when
   * `signal` is aborted, and when the stream is closed.
   */
  beyond(seen: number, milliseconds: number, signal?: AbortSignal): Promise<boolean> {
    if (this.newest > seen) return Promise.resolve(true);
    return this.head.beyond(seen, milliseconds, signal);
  }

  /** Deletes what is older than the retention, now and every hour until this is closed. */
  keepTidy(): void {
    this.tidying.start();
  }

  /** Deletes what is older than the retention. */
  tidy(signal?: AbortSignal): Promise<void> {
    const onFloor = (floor: number) => {
      this.deletedUpTo = floor;
    };
    return deleteOldMessages(this.store, this.clock, this.retentionMs, onFloor, signal);
  }

  /** Wakes all waiters and ends tidying; the store may be closed afterwards. */
  async close(): Promise<void> {
    this.head.close();
    await this.tidying.close();
  }
}

/** Default retention of messages, in days. */
export const DEFAULT_RETENTION_DAYS = 7;

export const DAY_MS = 24 * 60 * 60 * 1000;

/** Messages deleted per write, so that other writes do not wait long. */
const CHUNK = 1000;

/** The highest number that may have been deleted: a reader below it has missed messages. */
export async function readFloor(read: Reader): Promise<number> {
  const row = await read.get<{ value: string }>(sql`SELECT value FROM settings WHERE name = ${FLOOR}`);
  return Number(row?.value ?? 0);
}

/**
 * Deletes messages older than `retentionMs`, oldest first. `onFloor` is called with each new floor before anything up to
 * it is deleted, so that no reader mistakes a gap for the end. Stops early when `signal` is aborted.
 */
async function deleteOldMessages(
  store: Store,
  clock: Clock,
  retentionMs: number,
  onFloor: (floor: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  const cutoff = new Date(clock() - retentionMs).toISOString();
  while (!signal?.aborted) {
    const { old } = (await store.read.get<{ old: number | null }>(
      sql`SELECT MAX(id) AS old FROM (SELECT id, sent_at FROM stream_messages ORDER BY id LIMIT ${CHUNK}) AS first
        WHERE sent_at < ${cutoff}`,
    )) as { old: number | null };
    if (old === null) return;
    onFloor(old);
    await store.write(async (tx) => {
      await tx.run(sql`INSERT INTO settings (name, value) VALUES (${FLOOR}, ${String(old)})
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
      await tx.run(sql`DELETE FROM stream_messages WHERE id <= ${old}`);
    });
  }
}
