import type { Send } from '../../../src/core/transport/send.ts';
import { OwnRateLimit } from '../../../src/server/http/ratelimit.ts';
import { answer, success } from './script.ts';
import type { VirtualClock } from './virtualclock.ts';

interface Limits {
  /** Requests a second, with bursts of twice that (D43). */
  readonly rate: number;
  /** Milliseconds a request takes to the server and its answer back: from `least` to `most`. */
  readonly latency: { readonly least: number; readonly most: number };
  /** What of the rate limit the answers tell. */
  readonly tells: 'RateLimit and Retry-After' | 'Retry-After' | 'nothing';
  readonly random: () => number;
}

/** Retry-After as the client saw it: no request may leave between the two times. */
interface Pause {
  readonly from: number;
  readonly until: number;
}

/** A server behind the real token bucket, in virtual time, and what it saw. */
export class LimitedServer {
  readonly sentAt: number[] = [];
  readonly taken: number[] = [];
  readonly refused: number[] = [];
  readonly pauses: Pause[] = [];
  private readonly clock: VirtualClock;
  private readonly limits: Limits;
  private readonly bucket: OwnRateLimit;

  constructor(clock: VirtualClock, limits: Limits) {
    this.clock = clock;
    this.limits = limits;
    this.bucket = new OwnRateLimit(limits.rate, clock.now);
  }

  readonly send: Send = async () => {
    this.sentAt.push(this.clock.now());
    await this.travel();
    const { allowed, headers } = this.bucket.take('caller');
    (allowed ? this.taken : this.refused).push(this.clock.now());
    await this.travel();
    const told = this.told(headers);
    if (allowed) return success([], {}, told);
    const now = this.clock.now();
    if (told['retry-after'] !== undefined)
      this.pauses.push({ from: now, until: now + Number(told['retry-after']) * 1000 });
    return answer(429, '', told);
  };

  /** How often the server had to refuse: refusals within two seconds of the first are one episode. */
  get episodes(): number {
    let count = 0;
    let until = 0;
    for (const at of this.refused) {
      if (at >= until) {
        count++;
        until = at + 2000;
      }
    }
    return count;
  }

  /** Requests that left during a pause that had been announced. */
  get early(): number[] {
    return this.sentAt.filter((at) => this.pauses.some(({ from, until }) => at > from && at < until));
  }

  /** The most requests that left within so many milliseconds after a pause ended. */
  busiestAfterPause(milliseconds: number): number {
    const counts = this.pauses.map(
      ({ until }) => this.sentAt.filter((at) => at >= until && at < until + milliseconds).length,
    );
    return Math.max(0, ...counts);
  }

  private travel(): Promise<void> {
    const { least, most } = this.limits.latency;
    return this.clock.sleep((least + this.limits.random() * (most - least)) / 2);
  }

  private told(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    if (this.limits.tells === 'RateLimit and Retry-After') return headers;
    const after = headers['retry-after'];
    return this.limits.tells === 'Retry-After' && after !== undefined ? { 'retry-after': after } : {};
  }
}
