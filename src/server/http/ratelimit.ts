import sql from 'sql-template-tag';
import { refusal } from '../../catalog/failures.ts';
import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';

/** Default rate limit, in requests per second (D43). */
export const DEFAULT_RATE = 100;

/** Maximum entries of a table by caller or address: more than a server has at once. */
const MAX_ENTRIES = 10_000;

/** Fraction of a second's requests that is taken from a shared bucket at once, to spare whoever keeps it. */
const SHARE = 1 / 20;

/** The outcome for one request, and the headers to send, `Retry-After` among them when it is refused. */
export interface Taken {
  readonly allowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Token buckets, one for each organization and token: `rate` requests a second, bursts of twice that (D43). */
export interface RateLimit {
  /** Takes one request's worth. */
  take(caller: string): Taken | Promise<Taken>;
  /** Gives back what was taken for a request that another process of this server counts, too. */
  giveBack?(caller: string): void;
  /** Takes a share for another process of this server; absent where the processes have no bucket in common here. */
  takeShare?(caller: string): TakenShare;
}

/** The limit of a server, or of all servers that share a store; a rate of 0 limits nothing. */
export function rateLimitOf(store: Store, rate: number, clock: Clock): RateLimit {
  if (rate === 0) return { take: () => ({ allowed: true, headers: {} }) };
  return store.shared === undefined ? new OwnRateLimit(rate, clock) : sharedRateLimit(store.shared, rate, clock);
}

/** The refusal (429) of a request over the limit. */
export function tooManyRequests() {
  return refusal('limit.rate', null, 'Too many requests: wait as long as Retry-After says.');
}

function takenOf(allowed: boolean, left: number, rate: number): Taken {
  return {
    allowed,
    headers: {
      'ratelimit-limit': String(rate * 2),
      'ratelimit-remaining': String(Math.floor(left)),
      'ratelimit-reset': String(Math.ceil((rate * 2 - left) / rate)),
      ...(!allowed && { 'retry-after': String(Math.max(1, Math.ceil((1 - left) / rate))) }),
    },
  };
}

/** A token bucket; `at` is when it was last refilled, in UTC milliseconds. */
export interface Bucket {
  tokens: number;
  at: number;
}

/** Token buckets in memory. The least recently used is evicted, which only refills it. */
export class TokenBuckets {
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    private readonly capacity: number,
    private readonly perSecond: number,
    private readonly clock: Clock,
  ) {}

  /** The bucket of a key, refilled for the time that has passed. */
  get(key: string): Bucket {
    const now = this.clock();
    const bucket = this.buckets.get(key) ?? { tokens: this.capacity, at: now };
    const gained = (Math.max(0, now - bucket.at) * this.perSecond) / 1000;
    bucket.tokens = Math.min(this.capacity, bucket.tokens + gained);
    bucket.at = now;
    setLatest(this.buckets, key, bucket);
    return bucket;
  }
}

/** Sets an entry as the most recently used one; evicts the least recently used one of too many. */
export function setLatest<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MAX_ENTRIES) map.delete(map.keys().next().value as string);
}

/** Rate limit of one server, in memory. */
export class OwnRateLimit implements RateLimit {
  private readonly buckets: TokenBuckets;

  constructor(
    private readonly rate: number,
    clock: Clock,
  ) {
    this.buckets = new TokenBuckets(rate * 2, rate, clock);
  }

  take(caller: string): Taken {
    const bucket = this.buckets.get(caller);
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    return takenOf(allowed, bucket.tokens, this.rate);
  }

  takeShare(caller: string): TakenShare {
    const bucket = this.buckets.get(caller);
    const granted = Math.min(shareOf(this.rate), Math.floor(bucket.tokens));
    bucket.tokens -= granted;
    return { granted, tokens: bucket.tokens };
  }
}

/** Requests that were taken from a shared bucket, and what is left in it. */
export interface TakenShare {
  readonly granted: number;
  readonly tokens: number;
}

/** Requests that are taken from a shared bucket at once. */
function shareOf(rate: number): number {
  return Math.ceil(rate * SHARE);
}

interface Share {
  /** Requests that may still be admitted without asking. */
  mine: number;
  /** What was left in the bucket when it was last asked for. */
  rest: number;
}

/** Rate limit of all servers on one database (D43). */
function sharedRateLimit(database: NonNullable<Store['shared']>, rate: number, clock: Clock): RateLimit {
  const burst = rate * 2;
  const wanted = shareOf(rate);
  return rateLimitOfShares(rate, async (caller) => {
    const now = clock();
    // The bucket refills with time; a clock that is behind does not empty it.
    const filled = sql`LEAST(${burst}::float8, b.tokens + GREATEST(0, ${now}::bigint - b.at) * ${rate}::float8 / 1000)`;
    const granted = sql`LEAST(${wanted}::bigint, FLOOR(${filled})::bigint)`;
    const row = await database.get<TakenShare>(
      sql`INSERT INTO rate_buckets AS b (caller, tokens, at, granted)
        VALUES (${caller}, ${burst - wanted}, ${now}, ${wanted})
        ON CONFLICT (caller) DO UPDATE SET tokens = ${filled} - ${granted}, at = GREATEST(b.at, ${now}::bigint),
          granted = ${granted}
        RETURNING granted, tokens`,
    );
    return row ?? { granted: 0, tokens: 0 };
  });
}

/** Rate limit of buckets that others take from, too. Whoever ends loses its share: some requests of a burst. */
export function rateLimitOfShares(rate: number, takeShare: (caller: string) => Promise<TakenShare>): RateLimit {
  const shares = new Map<string, Share>();
  /** Questions that are being asked, by caller: its requests wait for the same one, or many would keep others waiting. */
  const asking = new Map<string, Promise<boolean>>();
  const ask = async (caller: string, share: Share): Promise<boolean> => {
    const { granted, tokens } = await takeShare(caller).finally(() => asking.delete(caller));
    share.mine += granted;
    share.rest = tokens;
    return granted > 0;
  };
  return {
    async take(caller) {
      const share = shares.get(caller) ?? { mine: 0, rest: 0 };
      setLatest(shares, caller, share);
      for (let more = true; more && share.mine < 1; ) {
        const question = asking.get(caller) ?? ask(caller, share);
        asking.set(caller, question);
        more = await question;
      }
      const allowed = share.mine >= 1;
      if (allowed) share.mine -= 1;
      return takenOf(allowed, share.rest + share.mine, rate);
    },
    giveBack(caller) {
      const share = shares.get(caller);
      if (share !== undefined) share.mine += 1;
    },
  };
}
