import { isIP } from 'node:net';
import { Refusal } from '../../catalog/failures.ts';
import type { Clock } from '../clock.ts';

/** Unknown tokens that an address may send at once; one more for each second after that. */
export const DEFAULT_ATTEMPTS = 300;

const REFILL_MS = 1000;

/** What a failure takes. Secrets of clients are chosen by people, and each try costs the server a slow hash. */
const COST = { token: 1, client: 10 } as const;

/** More addresses, and more tokens, than a server has at once; the least recently seen is forgotten. */
const MOST = 10_000;

interface Allowance {
  left: number;
  at: number;
}

/** Refuses an address that failed too often (429); `seconds` until it may try again. */
export class TooManyAttempts extends Refusal {
  readonly seconds: number;

  constructor(seconds: number) {
    const description = `Too many credentials that are not accepted came from this address: wait ${seconds} s.`;
    super([{ code: 'limit.rate', source: null, description }]);
    this.seconds = seconds;
  }
}

/**
 * Limits failed authentication of each address, so that nobody can try tokens or secrets without end. A token that was
 * accepted before is not held up by what others behind the same address do. All work is a look into a map.
 */
export class Attempts {
  private readonly allowances = new Map<string, Allowance>();
  private readonly accepted = new Map<string, true>();
  /** The last of `accepted`. */
  private latest: string | undefined;
  private readonly most: number;
  private readonly clock: Clock;

  /** `most` failures at once; 0 limits nothing. */
  constructor(most: number, clock: Clock) {
    this.most = most;
    this.clock = clock;
  }

  /**
   * Counts an attempt as a failure until it is told otherwise, since many may run at the same time; call what it gives
   * when the attempt was none. Throws `TooManyAttempts`.
   */
  begin(kind: keyof typeof COST, address: string): () => void {
    if (this.most === 0) return () => {};
    const allowance = this.filled(networkOf(address));
    const cost = COST[kind];
    if (allowance.left < cost) throw new TooManyAttempts(Math.ceil(((cost - allowance.left) * REFILL_MS) / 1000));
    allowance.left -= cost;
    return () => {
      allowance.left = Math.min(this.most, allowance.left + cost);
    };
  }

  /** Whether a token, told by its hash, was accepted before. */
  isAccepted(hash: string): boolean {
    return this.accepted.has(hash);
  }

  accept(hash: string): void {
    // Most requests have the token of the one before them.
    if (hash === this.latest) return;
    this.latest = hash;
    keepLast(this.accepted, hash, true);
  }

  forget(hash: string): void {
    if (hash === this.latest) this.latest = undefined;
    this.accepted.delete(hash);
  }

  private filled(network: string): Allowance {
    const now = this.clock();
    const allowance = this.allowances.get(network) ?? { left: this.most, at: now };
    const gained = Math.max(0, now - allowance.at) / REFILL_MS;
    allowance.left = Math.min(this.most, allowance.left + gained);
    allowance.at = now;
    keepLast(this.allowances, network, allowance);
    return allowance;
  }
}

function keepLast<T>(map: Map<string, T>, key: string, value: T): void {
  // Set anew, so that the order of the map is that of last use.
  map.delete(key);
  map.set(key, value);
  if (map.size > MOST) map.delete(map.keys().next().value as string);
}

/** Who an address belongs to: of IPv6 everybody has 2^64, so the first half counts; IPv4 in IPv6 is IPv4. */
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
