import { refusal } from '../../catalog/failures.ts';
import type { Clock } from '../service.ts';

/** Requests a second when nothing else is said (D43). */
export const DEFAULT_RATE = 100;

/** More callers than a server has at once; the least recently seen is forgotten, which only fills its bucket. */
const MAX_BUCKETS = 10_000;

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * Token buckets, one for each organization and token: `rate` requests a second, bursts of twice that (D43). A rate of
 * 0 limits nothing.
 */
export class RateLimit {
  private readonly buckets = new Map<string, Bucket>();
  private readonly rate: number;
  private readonly clock: Clock;

  constructor(rate: number, clock: Clock) {
    this.rate = rate;
    this.clock = clock;
  }

  /** Takes one request's worth; gives the headers to send, `Retry-After` among them when there was none left. */
  take(caller: string): { readonly allowed: boolean; readonly headers: Readonly<Record<string, string>> } {
    if (this.rate === 0) return { allowed: true, headers: {} };
    const bucket = this.filled(caller);
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    const wait = Math.max(0, Math.ceil((1 - bucket.tokens) / this.rate));
    return {
      allowed,
      headers: {
        'ratelimit-limit': String(this.rate * 2),
        'ratelimit-remaining': String(Math.floor(bucket.tokens)),
        'ratelimit-reset': String(Math.ceil((this.rate * 2 - bucket.tokens) / this.rate)),
        ...(!allowed && { 'retry-after': String(Math.max(1, wait)) }),
      },
    };
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
