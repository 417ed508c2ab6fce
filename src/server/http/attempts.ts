import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import pLimit, { type LimitFunction } from 'p-limit';
import { Refusal } from '../../catalog/failures.ts';
import type { Clock } from '../clock.ts';
import { type Bucket, TokenBuckets } from './ratelimit.ts';

/** Unknown tokens that an address may send at once; one more for each second after that. */
export const DEFAULT_ATTEMPTS = 300;

/** Cost of a wrong client secret: they are chosen by people. */
const CLIENT_COST = 10;

/** Secrets of a client that an address may always have checked at once, by each process: right ones come together, too. */
const MIN_CLIENTS = 5;

/** Refuses an address that failed too often (429); `seconds` until it may try again. */
export class TooManyAttempts extends Refusal {
  constructor(readonly seconds: number) {
    const description = `Too many rejected credentials from this address: wait ${seconds} s.`;
    super([{ code: 'limit.rate', source: null, description }]);
  }
}

/**
 * Limits failed authentication (contract §8): unknown tokens of an address, and wrong secrets of a client from an
 * address. What is right is never refused for what others have tried.
 */
export class Attempts {
  private readonly tokens: TokenBuckets;
  private readonly clients: TokenBuckets;
  /** Addresses with a secret that is being checked, or waits for it. */
  private readonly checking = new Map<string, LimitFunction>();

  private readonly clientLimit: number;

  /**
   * `limit` failures at once, and one more for each second after that; 0 limits nothing. `share`: the fraction of both
   * that this process of several may see (D59); of each client a few at once in any case.
   */
  constructor(
    private readonly limit: number,
    clock: Clock,
    private readonly share = 1,
  ) {
    this.clientLimit = Math.max(limit * share, Math.min(limit, MIN_CLIENTS * CLIENT_COST));
    this.tokens = new TokenBuckets(limit * share, this.share, clock);
    this.clients = new TokenBuckets(this.clientLimit, this.share, clock);
  }

  /** Counts a token that was looked up and is unknown. Throws `TooManyAttempts`. */
  countToken(address: string): void {
    if (this.limit > 0) this.take(this.tokens.get(networkOf(address)), 1);
  }

  /** Counts a client's attempt until the function it returns is called, since many run at once. Throws `TooManyAttempts`. */
  beginClient(address: string, clientId: string): () => void {
    if (this.limit === 0) return () => {};
    // A hash, as the names that somebody invents may be as long as a body.
    const bucket = this.clients.get(`${networkOf(address)} ${hash('sha256', clientId)}`);
    this.take(bucket, CLIENT_COST);
    return () => {
      bucket.tokens = Math.min(this.clientLimit, bucket.tokens + CLIENT_COST);
    };
  }

  /**
   * Runs the check of a secret when those that its address sent before are done: one with many invented clients would
   * keep all others waiting, since each check takes a slow hash.
   */
  async inTurn<T>(address: string, check: () => Promise<T>): Promise<T> {
    const network = networkOf(address);
    const turns = this.checking.get(network) ?? pLimit(1);
    this.checking.set(network, turns);
    try {
      return await turns(check);
    } finally {
      if (turns.activeCount + turns.pendingCount === 0) this.checking.delete(network);
    }
  }

  private take(bucket: Bucket, cost: number): void {
    if (bucket.tokens < cost) throw new TooManyAttempts(Math.ceil((cost - bucket.tokens) / this.share));
    bucket.tokens -= cost;
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
