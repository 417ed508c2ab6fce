import sql from 'sql-template-tag';
import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';
import { OwnRateLimit, type RateLimit, type Taken, takenOf } from './ratelimit.ts';

/** Part of a second's requests that a server takes from a bucket at once, so that not each one asks the database. */
const SHARE = 1 / 20;

/** Callers whose share is remembered; one that is forgotten loses a few requests of its burst. */
const MOST_CALLERS = 10_000;

/** The limit of a server, or of all servers that share a store; a rate of 0 limits nothing. */
export function rateLimitOf(store: Store, rate: number, clock: Clock): RateLimit {
  if (rate === 0) return { take: () => ({ allowed: true, headers: {} }) };
  return store.shared === undefined ? new OwnRateLimit(rate, clock) : new SharedRateLimit(store.shared, rate, clock);
}

interface Share {
  /** Requests this server may still let through without asking. */
  mine: number;
  /** What was left in the bucket when it was asked. */
  rest: number;
}

/** Buckets of all servers on one database (D43). A server that ends keeps what it took: some requests of a burst. */
class SharedRateLimit implements RateLimit {
  private readonly shares = new Map<string, Share>();
  private readonly database: NonNullable<Store['shared']>;
  private readonly rate: number;
  private readonly clock: Clock;

  constructor(database: NonNullable<Store['shared']>, rate: number, clock: Clock) {
    this.database = database;
    this.rate = rate;
    this.clock = clock;
  }

  async take(caller: string): Promise<Taken> {
    const share = this.shares.get(caller) ?? { mine: 0, rest: 0 };
    if (share.mine < 1) {
      const { granted, tokens } = await this.ask(caller, Math.ceil(this.rate * SHARE));
      // Requests at the same time may each have asked.
      share.mine += granted;
      share.rest = tokens;
    }
    this.remember(caller, share);
    const allowed = share.mine >= 1;
    if (allowed) share.mine -= 1;
    return takenOf(allowed, share.rest + share.mine, this.rate);
  }

  private async ask(caller: string, wanted: number): Promise<{ granted: number; tokens: number }> {
    const { rate } = this;
    const burst = rate * 2;
    const now = this.clock();
    // What the bucket has by now: it fills with time, and a clock that is behind does not empty it.
    const filled = sql`LEAST(${burst}::float8, b.tokens + GREATEST(0, ${now}::bigint - b.at) * ${rate}::float8 / 1000)`;
    const granted = sql`LEAST(${wanted}::bigint, FLOOR(${filled})::bigint)`;
    const row = await this.database.get<{ granted: number; tokens: number }>(
      sql`INSERT INTO rate_buckets AS b (caller, tokens, at, granted)
        VALUES (${caller}, ${burst - wanted}, ${now}, ${wanted})
        ON CONFLICT (caller) DO UPDATE SET tokens = ${filled} - ${granted}, at = GREATEST(b.at, ${now}::bigint),
          granted = ${granted}
        RETURNING granted, tokens`,
    );
    return row ?? { granted: 0, tokens: 0 };
  }

  private remember(caller: string, share: Share): void {
    this.shares.delete(caller);
    this.shares.set(caller, share);
    if (this.shares.size > MOST_CALLERS) this.shares.delete(this.shares.keys().next().value as string);
  }
}
