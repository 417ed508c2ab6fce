import type { Clock } from '../clock.ts';
import type { IncomingResponse } from './send.ts';

/** What a client sent so far, for summaries and receipts. */
export interface TransferStatistics {
  /** HTTP requests sent, attempts counted one by one. */
  readonly requests: number;
  /** Those of them that repeated an earlier attempt. */
  readonly retries: number;
  /** Time during which at least one request waited because of the server's rate limit. */
  readonly throttledMilliseconds: number;
}

/**
 * Ends a request in flight, once, with the headers of its response if any; `pause`: the server throttled it and
 * announced this many milliseconds.
 */
export type ReleaseSlot = (headers: IncomingResponse['headers'], pause?: number) => void;

/** Milliseconds between requests after the server throttled: the minimum where it reports no rate, and the maximum. */
const MIN_SPACING = 20;
const MAX_SPACING = 10_000;
/** Milliseconds in which the rate grows by what it was after the last throttling. */
const RECOVERY = 100_000;
/** Longer gaps between two requests are the client's own, and say nothing about its rate. */
const MAX_GAP = 1000;

/**
 * Keeps all requests of a client together at the server's rate: each attempt acquires a slot. There is no wait while
 * nothing was throttled and the server reports room (`RateLimit-*`, D43); then requests go at the rate at which the
 * server's bucket fills. A 429, or a 503 with `Retry-After`, stops all of them until the announced time and then
 * spaces them: half the rate seen so far, which slowly grows again. Memory use is constant.
 */
export class Pacer {
  private readonly bucket = new ServerTokenBucket();
  private latest = 0;
  private sent = 0;
  private retries = 0;
  private inFlight = 0;
  /** Time of the last request, and the smoothed time between two. */
  private lastAt = Number.NEGATIVE_INFINITY;
  private gap: number | undefined;
  private pausedUntil = 0;
  private nextAt = 0;
  private throttling: { readonly order: number; readonly spacing: number } | undefined;
  private pausing = 0;
  private pausedSince = 0;
  private pausedFor = 0;

  constructor(private readonly clock: Clock) {}

  get statistics(): TransferStatistics {
    const running = this.pausing === 0 ? 0 : this.now() - this.pausedSince;
    return {
      requests: this.sent,
      retries: this.retries,
      throttledMilliseconds: Math.round(this.pausedFor + running),
    };
  }

  /** Waits until a request may be sent; `retry`: it repeats an earlier one. Rejects with the signal's reason. */
  async acquire(retry: boolean, signal?: AbortSignal): Promise<ReleaseSlot> {
    for (;;) {
      signal?.throwIfAborted();
      const now = this.now();
      const at = this.earliest(now);
      // Those that wake together check again one after the other, and only the first finds the slot free.
      if (at <= now) return this.take(now, retry);
      await this.pause(at - now, signal);
    }
  }

  /** Sleeps because of the server's rate limit, and counts the time. */
  async pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
    const until = this.now() + milliseconds;
    if (this.pausing++ === 0) this.pausedSince = until - milliseconds;
    try {
      await this.clock.sleep(Math.ceil(milliseconds), signal);
      this.latest = Math.max(this.latest, until);
    } finally {
      if (--this.pausing === 0) this.pausedFor += this.now() - this.pausedSince;
    }
  }

  private earliest(now: number): number {
    return Math.max(this.pausedUntil, this.nextAt, this.bucket.roomAt(now));
  }

  private take(now: number, retry: boolean): ReleaseSlot {
    const order = ++this.sent;
    if (retry) this.retries++;
    this.inFlight++;
    this.bucket.take();
    this.measure(now);
    const spacing = this.spacingAt(now);
    // Up to one spacing is caught up: timers are a little late each time.
    this.nextAt = Math.max(this.nextAt, this.pausedUntil, now - spacing) + spacing;
    return (headers, pause) => {
      this.inFlight--;
      this.released(order, headers, pause);
    };
  }

  private released(order: number, headers: IncomingResponse['headers'], pause: number | undefined): void {
    const now = this.now();
    const report = readRateLimit(headers);
    if (report === undefined) this.bucket.giveBack();
    else this.bucket.report(report, order, this.inFlight, now);
    if (pause === undefined) return;
    this.pausedUntil = Math.max(this.pausedUntil, now + pause);
    // Requests in flight when the first was throttled say nothing new about the rate.
    if (order <= (this.throttling?.order ?? 0)) return;
    const reported = this.bucket.rate > 0 ? 1 / this.bucket.rate : MIN_SPACING;
    const spacing = Math.min(MAX_SPACING, Math.max(2 * (this.gap ?? 0), reported));
    this.throttling = { order: this.sent, spacing };
  }

  private measure(now: number): void {
    // A pause in between was the server's doing.
    if (this.lastAt >= this.pausedUntil) {
      const gap = Math.min(MAX_GAP, now - this.lastAt);
      this.gap = this.gap === undefined ? gap : this.gap + (gap - this.gap) / 8;
    }
    this.lastAt = now;
  }

  private spacingAt(now: number): number {
    if (this.throttling === undefined) return 0;
    return this.throttling.spacing / (1 + Math.max(0, now - this.pausedUntil) / RECOVERY);
  }

  /** Never goes back, and counts at least the time slept: the clock of the machine may be set. */
  private now(): number {
    this.latest = Math.max(this.latest, this.clock.now());
    return this.latest;
  }
}

/** The `RateLimit-*` headers of a response (D43): requests, and seconds until all of them are free again. */
interface RateLimitReport {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

/** The report in a response's headers; undefined when one of the three is missing or is no number. */
export function readRateLimit(headers: IncomingResponse['headers']): RateLimitReport | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    // Some servers add their policy after the number: `100, 100;w=60`.
    const digits = headers[`ratelimit-${name}`]?.match(/^\s*(\d{1,12})(?![\d.])/)?.[1];
    return digits === undefined ? undefined : Number(digits);
  });
  if (limit === undefined || remaining === undefined || reset === undefined || limit === 0) return undefined;
  return { limit, remaining: Math.min(remaining, limit), reset };
}

/** One part in so many of a burst is left to other users of the token while there is more than that. */
const RESERVED_PART = 20;

/**
 * The server's token bucket as its responses report it: whether a request sent now finds room, and how fast the bucket
 * fills. Times are milliseconds. It errs on the low side: a request in flight counts as not yet counted.
 */
export class ServerTokenBucket {
  /** Requests per millisecond; 0 until a response reported it. */
  rate = 0;
  private limit = Number.POSITIVE_INFINITY;
  private free = Number.POSITIVE_INFINITY;
  private at = 0;
  private newest = 0;

  /** When the next request finds room: `now`, or later. */
  roomAt(now: number): number {
    this.fill(now);
    return this.rate === 0 ? now : now + Math.max(0, 1 - this.free) / this.rate;
  }

  /** A request is sent. */
  take(): void {
    this.free--;
  }

  /** The server did not count a request: no response arrived, or one without a report. */
  giveBack(): void {
    this.free = Math.min(this.limit, this.free + 1);
  }

  /** The report in the response to request number `order`, with `inFlight` other requests still open. */
  report({ limit, remaining, reset }: RateLimitReport, order: number, inFlight: number, now: number): void {
    // Rounding in the report makes the estimate too low, never too high, so the highest one is the best.
    const rate = reset === 0 ? 0 : (limit - remaining) / (reset * 1000);
    this.rate = limit === this.limit ? Math.max(this.rate, rate) : rate;
    this.limit = limit;
    this.fill(now);
    const left = remaining - inFlight;
    const free = Math.max(left - Math.floor(limit / RESERVED_PART), Math.min(left, 1));
    // Responses overtake each other: an older one may lower the estimate, never raise it.
    this.free = order >= this.newest ? free : Math.min(this.free, free);
    this.newest = Math.max(this.newest, order);
  }

  private fill(now: number): void {
    this.free = Math.min(this.limit, this.free + Math.max(0, now - this.at) * this.rate);
    this.at = now;
  }
}
