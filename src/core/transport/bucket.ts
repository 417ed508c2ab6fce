import type { IncomingResponse } from './send.ts';

/** What the `RateLimit-*` headers of an answer say (D43): requests, and seconds until all of them are free again. */
export interface RateLimitReport {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

/** The report in an answer's headers, undefined when one of the three is missing or is no number. */
export function readRateLimit(headers: IncomingResponse['headers']): RateLimitReport | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    // Some servers add their policy after the number: `100, 100;w=60`.
    const digits = /^\s*(\d{1,12})(?![\d.])/.exec(headers[`ratelimit-${name}`] ?? '')?.[1];
    return digits === undefined ? undefined : Number(digits);
  });
  if (limit === undefined || remaining === undefined || reset === undefined || limit === 0) return undefined;
  return { limit, remaining: Math.min(remaining, limit), reset };
}

/** This part of a burst is left to others that use the same token, as long as there is something else to go on with. */
const RESERVE = 20;

/**
 * The server's token bucket as far as its answers tell: whether a request sent now finds room, and how fast the
 * bucket fills. Times are milliseconds. It errs on the low side: a request under way counts as not yet counted.
 */
export class ServerBucket {
  /** Requests a millisecond; 0 until an answer told. */
  rate = 0;
  private limit = Number.POSITIVE_INFINITY;
  private free = Number.POSITIVE_INFINITY;
  private at = 0;
  private newest = 0;

  /** When the next request finds room: `now`, or later. */
  roomAt(now: number): number {
    this.fill(now);
    return this.free >= 1 || this.rate === 0 ? now : now + (1 - this.free) / this.rate;
  }

  take(): void {
    this.free--;
  }

  /** A request the server did not count: no answer came, or one without a report. */
  giveBack(): void {
    this.free = Math.min(this.limit, this.free + 1);
  }

  /** The report of the answer to request number `order`, with `underWay` other requests not yet answered. */
  report({ limit, remaining, reset }: RateLimitReport, order: number, underWay: number, now: number): void {
    // Rounding in the report makes the estimate too low, never too high, so the highest one is the best.
    const rate = reset === 0 ? 0 : (limit - remaining) / (reset * 1000);
    this.rate = limit === this.limit ? Math.max(this.rate, rate) : rate;
    this.limit = limit;
    this.fill(now);
    const here = remaining - underWay;
    const free = Math.max(here - Math.floor(limit / RESERVE), Math.min(here, 1));
    // Answers overtake each other: an older one may lower the estimate, never raise it.
    this.free = order >= this.newest ? free : Math.min(this.free, free);
    this.newest = Math.max(this.newest, order);
  }

  private fill(now: number): void {
    if (this.rate > 0) this.free = Math.min(this.limit, this.free + Math.max(0, now - this.at) * this.rate);
    this.at = now;
  }
}
