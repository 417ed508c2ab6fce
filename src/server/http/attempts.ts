import { isIP } from 'node:net';
import { Refusal } from '../../catalog/failures.ts';
import type { Clock } from '../clock.ts';
import { setLatest, TokenBuckets } from './ratelimit.ts';

/** Unknown tokens that an address may send at once; one more for each second after that. */
export const DEFAULT_ATTEMPTS = 300;

/** Cost of a failed attempt. Client secrets are chosen by people, and each attempt costs the server a slow hash. */
const COST = { token: 1, client: 10 } as const;

/** Refuses an address that failed too often (429); `seconds` until it may try again. */
export class TooManyAttempts extends Refusal {
  constructor(readonly seconds: number) {
    const description = `Too many rejected credentials from this address: wait ${seconds} s.`;
    super([{ code: 'limit.rate', source: null, description }]);
  }
}

/** Limits failed authentication per address; a token that was accepted before is not affected by failures of others. */
export class Attempts {
  private readonly buckets: TokenBuckets;
  private readonly accepted = new Map<string, true>();
  /** The latest entry of `accepted`. */
  private latest: string | undefined;

  /** `limit` failures at once; 0 limits nothing. */
  constructor(
    private readonly limit: number,
    clock: Clock,
  ) {
    this.buckets = new TokenBuckets(limit, 1, clock);
  }

  /** Counts a failure until the function it returns is called, since many run at once. Throws `TooManyAttempts`. */
  begin(kind: keyof typeof COST, address: string): () => void {
    if (this.limit === 0) return () => {};
    const bucket = this.buckets.get(networkOf(address));
    const cost = COST[kind];
    if (bucket.tokens < cost) throw new TooManyAttempts(Math.ceil(cost - bucket.tokens));
    bucket.tokens -= cost;
    return () => {
      bucket.tokens = Math.min(this.limit, bucket.tokens + cost);
    };
  }

  /** Whether a token, identified by its hash, was accepted before. */
  isAccepted(hash: string): boolean {
    return this.accepted.has(hash);
  }

  accept(hash: string): void {
    // Most requests carry the token of the one before them.
    if (hash === this.latest) return;
    this.latest = hash;
    setLatest(this.accepted, hash, true);
  }

  forget(hash: string): void {
    if (hash === this.latest) this.latest = undefined;
    this.accepted.delete(hash);
  }
}

/** The network of one subscriber: the first half of an IPv6 address, as each has 2^64; IPv4 in IPv6 is IPv4. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
  if (isIP(mapped) !== 6) return mapped;
  const [front = '', back] = mapped.toLowerCase().split('%', 1)[0]?.split('::') ?? [];
  const groups = (text: string) => text.split(':').filter((group) => group !== '');
  const zeros = back === undefined ? 0 : Math.max(0, 8 - groups(front).length - groups(back).length);
  const all = [...groups(front), ...Array<string>(zeros).fill('0'), ...groups(back ?? '')];
  return all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}
