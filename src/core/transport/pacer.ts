import { readRateLimit, ServerBucket } from './bucket.ts';
import type { Clock } from './exchange.ts';
import type { IncomingResponse } from './send.ts';

/** What a client did so far, for summaries and receipts. */
export interface TransferStatistics {
  /** HTTP requests sent, every attempt counted. */
  readonly requests: number;
  /** Those of them that were another attempt of the same request. */
  readonly retries: number;
  /** Time during which at least one request was held back because of the server's rate limit. */
  readonly throttledMilliseconds: number;
}

/** Space between requests after the server throttled: at least this where it does not tell its rate, and at most. */
const SHORTEST_SPACE = 20;
const LONGEST_SPACE = 10_000;
/** The rate grows by as much as it was after the last throttling in each such time. */
const DOUBLED_AFTER = 100_000;
/** Longer pauses between two requests are the client's own, and say nothing about its rate. */
const LONGEST_GAP = 1000;

/**
 * What all requests of a client share so that parallel ones stay at the server's rate together: each attempt waits for
 * its turn. While nothing was throttled and the server reports room (`RateLimit-*`, D43) there is no wait. When
 * the room is used up, requests go at the rate at which the server's bucket fills. A 429, or a 503 with
 * `Retry-After`, holds all of them until the announced time and then spaces them: half the rate seen so far, which
 * slowly grows again. The memory it takes is constant.
 */
export class Pacer {
  private readonly clock: Clock;
  private readonly bucket = new ServerBucket();
  private latest = 0;
  private sent = 0;
  private repeated = 0;
  private underWay = 0;
  /** Time of the last request, and the smoothed time between two. */
  private lastAt: number | undefined;
  private gap: number | undefined;
  private pausedUntil = 0;
  private nextAt = 0;
  private throttling: { readonly order: number; readonly space: number } | undefined;
  private held = 0;
  private heldSince = 0;
  private heldFor = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  get statistics(): TransferStatistics {
    const running = this.held === 0 ? 0 : this.now() - this.heldSince;
    return {
      requests: this.sent,
      retries: this.repeated,
      throttledMilliseconds: Math.round(this.heldFor + running),
    };
  }

  /** Waits until a request may be sent; `retry`: it is another attempt. Rejects with the signal's reason. */
  async turn(retry: boolean, signal?: AbortSignal): Promise<Turn> {
    for (;;) {
      signal?.throwIfAborted();
      const now = this.now();
      const at = this.earliest(now);
      // Those that wake together check again one after the other, and only the first finds the turn free.
      if (at <= now) return this.take(now, retry);
      await this.hold(at - now, signal);
    }
  }

  /** Sleeps because of the server's rate limit, and counts the time. */
  async hold(milliseconds: number, signal?: AbortSignal): Promise<void> {
    const until = this.now() + milliseconds;
    if (this.held++ === 0) this.heldSince = until - milliseconds;
    try {
      await this.clock.sleep(Math.ceil(milliseconds), signal);
      this.latest = Math.max(this.latest, until);
    } finally {
      if (--this.held === 0) this.heldFor += this.now() - this.heldSince;
    }
  }

  private earliest(now: number): number {
    return Math.max(this.pausedUntil, this.nextAt, this.bucket.roomAt(now));
  }

  private take(now: number, retry: boolean): Turn {
    const order = ++this.sent;
    if (retry) this.repeated++;
    this.underWay++;
    this.bucket.take();
    this.measure(now);
    const space = this.spaceAt(now);
    // Up to one space is caught up, since timers are late by a little each time.
    this.nextAt = Math.max(this.nextAt, this.pausedUntil, now - space) + space;
    let open = true;
    return {
      ended: (headers, pause) => {
        if (!open) return;
        open = false;
        this.underWay--;
        this.answered(order, headers, pause);
      },
    };
  }

  private answered(order: number, headers: IncomingResponse['headers'], pause: number | undefined): void {
    const now = this.now();
    const report = readRateLimit(headers);
    if (report === undefined) this.bucket.giveBack();
    else this.bucket.report(report, order, this.underWay, now);
    if (pause === undefined) return;
    this.pausedUntil = Math.max(this.pausedUntil, now + pause);
    this.nextAt = Math.max(this.nextAt, this.pausedUntil);
    // Requests that were under way when the first was throttled say nothing new about the rate.
    if (order <= (this.throttling?.order ?? 0)) return;
    const told = this.bucket.rate > 0 ? 1 / this.bucket.rate : SHORTEST_SPACE;
    const space = Math.min(LONGEST_SPACE, Math.max(2 * (this.gap ?? 0), told));
    this.throttling = { order: this.sent, space };
  }

  private measure(now: number): void {
    // A pause in between was the server's doing.
    if (this.lastAt !== undefined && this.lastAt >= this.pausedUntil) {
      const gap = Math.min(LONGEST_GAP, now - this.lastAt);
      this.gap = this.gap === undefined ? gap : this.gap + (gap - this.gap) / 8;
    }
    this.lastAt = now;
  }

  private spaceAt(now: number): number {
    if (this.throttling === undefined) return 0;
    return this.throttling.space / (1 + Math.max(0, now - this.pausedUntil) / DOUBLED_AFTER);
  }

  /** Never goes back, and has come at least as far as was slept: the clock of the machine may be set. */
  private now(): number {
    this.latest = Math.max(this.latest, this.clock.now());
    return this.latest;
  }
}

/** A request on its way. */
export interface Turn {
  /** It ended, with these headers if any; `pause`: the server throttled it and announced this many milliseconds. */
  readonly ended: (headers: IncomingResponse['headers'], pause?: number) => void;
}
