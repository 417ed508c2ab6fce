import { refusal } from '../../catalog/failures.ts';
import type { Clock } from '../clock.ts';

/** Requests a second when nothing else is said (D43). */
export const DEFAULT_RATE = 100;

/** More callers than a server has at once; the least recently seen is forgotten, which only fills its bucket. */
const MAX_BUCKETS = 10_000;

interface Bucket {
  tokens: number;
  at: number;
}

/** What a request is told: whether it may go on, and the headers to send, `Retry-After` among them when it may not. */
export interface Taken {
  readonly allowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Token buckets, one for each organization and token: `rate` requests a second, bursts of twice that (D43). */
export interface RateLimit {
  /** Takes one request's worth. */
  take(caller: string): Taken | Promise<Taken>;
}

/** What is told of a bucket with so many requests left. */
export function takenOf(allowed: boolean, left: number, rate: number): Taken {
  const wait = Math.max(0, Math.ceil((1 - left) / rate));
  return {
    allowed,
    headers: {
      'ratelimit-limit': String(rate * 2),
      'ratelimit-remaining': String(Math.floor(left)),
      'ratelimit-reset': String(Math.ceil((rate * 2 - left) / rate)),
      ...(!allowed && { 'retry-after': String(Math.max(1, wait)) }),
    },
  };
}

/** Buckets of one server, in memory. */
export class OwnRateLimit implements RateLimit {
  private readonly buckets = new Map<string, Bucket>();
  private readonly rate: number;
  private readonly clock: Clock;

  constructor(rate: number, clock: Clock) {
    this.rate = rate;
    this.clock = clock;
  }

  take(caller: string): Taken {
    const bucket = this.filled(caller);
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    return takenOf(allowed, bucket.tokens, this.rate);
  }

  private filled(caller: string): Bucket {
    const now = this.clock();
    const burst = this.rate * 2;
    const known = this.buckets.get(caller);
    const elapsed = known === undefined ? 0 : Math.max(0, now - known.at);
    const bucket = { tokens: Math.min(burst, (known?.tokens ?? burst) + (elapsed * this.rate) / 1000), at: now };
    // Set anew, so that the order of the map is that of last use.
    this.buckets.delete(caller);
    this.buckets.set(caller, bucket);
    if (this.buckets.size > MAX_BUCKETS) this.buckets.delete(this.buckets.keys().next().value as string);
    return bucket;
  }
}

export function tooMany() {
  return refusal('limit.rate', null, 'Too many requests: wait as long as Retry-After says.');
}
