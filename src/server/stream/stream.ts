import sql from 'sql-template-tag';
import type { Clock } from '../clock.ts';
import { HourlyTask } from '../scheduler.ts';
import type { Reach } from '../store/reach.ts';
import type { Store } from '../store/store.ts';
import { readMessages } from './outbox.ts';
import { OutboxHead } from './outboxhead.ts';
import { type ReadPage, SharedPages, type StreamFormat, type StreamPage } from './pages.ts';
import {
  type Head,
  type Position,
  type Positions,
  readHeads,
  readPositions,
  type Start,
  startAt,
} from './positions.ts';

/** Messages per page of a listener. */
const PAGE_MESSAGES = 500;

/**
 * The streams of the organizations of an open store, for all readers: listeners over HTTP and relays alike. A reader
 * remembers the number of the last message it has processed and pulls: pages until one is empty, then `beyond` until
 * there is more. Nothing is queued for a reader, so a slow one costs nothing, and nothing that one organization reads or
 * writes waits for another.
 *
 *     let { after, epoch } = await stream.startAt(org, position);
 *     while (!signal.aborted) {
 *       const seen = stream.newestOf(org);
 *       const { messages, positions } = await stream.readMessages({ org }, after, 500);
 *       // Messages are gone, or the store has another history: tell so, and go on where it says.
 *       const resumed = resumedAfter(positions, { epoch, number: after });
 *       …
 *       for (const message of messages) await deal(message);
 *       after = messages.at(-1)?.number ?? after;
 *       if (messages.length === 0) await stream.beyond(org, seen, 60_000, signal);
 *     }
 */
export class Stream {
  /** Listeners that are being served now. */
  listeners = 0;
  private readonly retentionMs: number;
  private readonly head: OutboxHead;
  private readonly pages: SharedPages;
  private readonly tidying: HourlyTask;

  private constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    retentionDays: number,
    heads: readonly Head[],
  ) {
    this.retentionMs = retentionDays * DAY_MS;
    this.tidying = new HourlyTask(store, 'stream', (signal) => this.tidy(signal));
    this.head = new OutboxHead(store, heads);
    this.pages = new SharedPages((reach, after) => this.readMessages(reach, after, PAGE_MESSAGES));
    this.head.onAdvance = () => this.pages.advance();
  }

  /** Opens the stream of a store. `retentionDays`: how long messages are retained. */
  static async open(store: Store, clock: Clock, retentionDays: number): Promise<Stream> {
    return new Stream(store, clock, retentionDays, await readHeads(store.read));
  }

  /** Messages written since this was opened, including those of other processes, when heads were last refreshed. */
  get written(): number {
    return this.head.written;
  }

  /** The heads of all organizations; messages written since are at most a moment away (`beyond`, `refresh`). */
  get heads(): ReadonlyMap<number, Head> {
    return this.head.known;
  }

  /** How often any head was found to have moved. */
  get moves(): number {
    return this.head.moves;
  }

  /** Reads the heads of all organizations. */
  refresh(): Promise<void> {
    return this.head.refresh();
  }

  /** The number of an organization's newest message known. */
  newestOf(org: number): number {
    return this.head.newestOf(org);
  }

  /** What an organization has of the stream now: its messages after `newest` come from commits after the call. */
  positionsOf(org: number): Promise<Positions> {
    return readPositions(this.store.read, org);
  }

  /** Where a reader begins that asks for a position. */
  startAt(org: number, position: Position): Promise<Start> {
    return startAt(this.store.read, org, position);
  }

  /**
   * As `readMessages`, framed for writing with positions of an epoch; shared between all readers there and within the
   * same reach.
   */
  page(reach: Reach, epoch: string, after: number, format: StreamFormat): Promise<StreamPage> {
    return this.pages.page(reach, epoch, after, format);
  }

  /**
   * Messages within reach after a number, in the order of commits: at most `limit`, and about 1 MiB; empty only when
   * there are none. Messages may be deleted while they are read, here or by another server, or the database turn out to
   * be another one: the positions read after them tell (`resumedAfter`).
   */
  async readMessages(reach: Reach, after: number, limit: number): Promise<ReadPage> {
    const messages = await readMessages(this.store.read, reach, after, limit);
    return { messages, positions: await this.positionsOf(reach.org) };
  }

  /**
   * Resolves true when the newest number of an organization, or with undefined `moves`, is not `seen` any more; false
   * after `milliseconds`, when `signal` is aborted, and when the stream is closed.
   */
  beyond(org: number | undefined, seen: number, milliseconds: number, signal?: AbortSignal): Promise<boolean> {
    return this.head.beyond(org, seen, milliseconds, signal);
  }

  /** Deletes what is older than the retention, now and every hour until this is closed. */
  keepTidy(): void {
    this.tidying.start();
  }

  /** Deletes what is older than the retention. */
  tidy(signal?: AbortSignal): Promise<void> {
    return deleteOldMessages(this.store, new Date(this.clock() - this.retentionMs).toISOString(), signal);
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

/**
 * Deletes messages sent before `cutoff`, oldest first. What was deleted is committed with the floor, so that no reader
 * mistakes a gap for the end. Stops early when `signal` is aborted.
 */
async function deleteOldMessages(store: Store, cutoff: string, signal?: AbortSignal): Promise<void> {
  const behind = await store.read.all<{ org: number }>(
    sql`SELECT org FROM stream_heads WHERE (SELECT m.sent_at FROM stream_messages m WHERE m.org = stream_heads.org
      ORDER BY m.seq LIMIT 1) < ${cutoff}`,
  );
  for (const { org } of behind) {
    while (!signal?.aborted) {
      const { old } = (await store.read.get<{ old: number | null }>(
        sql`SELECT MAX(seq) AS old FROM (SELECT seq, sent_at FROM stream_messages WHERE org = ${org}
          ORDER BY seq LIMIT ${CHUNK}) AS first WHERE sent_at < ${cutoff}`,
      )) as { old: number | null };
      if (old === null) break;
      await store.write(async (tx) => {
        await tx.run(sql`UPDATE stream_heads SET floor = ${old} WHERE org = ${org}`);
        await tx.run(sql`DELETE FROM stream_messages WHERE org = ${org} AND seq <= ${old}`);
      });
    }
  }
}
