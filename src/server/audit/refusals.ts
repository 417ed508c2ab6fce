import type { Clock } from '../clock.ts';
import type { ReadTrail } from './readtrail.ts';

/** A request that was refused for who sent it, or how often: 401, 403 or 429. */
export interface RefusedRequest {
  readonly status: number;
  readonly address: string;
  readonly requestId: string;
  /** Who it came from, where a credential told; and the API client that it named, whether or not there is one. */
  readonly who?: string | undefined;
  readonly client?: string | undefined;
  /** Key of the organization in the store, where the caller may use it. */
  readonly org?: number | undefined;
}

/** Refusals of an address within a second that have entries of their own; the others are counted in one more. */
const MAX_SINGLE = 10;

/** Addresses that are told apart within a second; what others are refused is counted together. */
const MAX_ADDRESSES = 1000;

const SECOND_MS = 1000;

/** Refusals of one address since the second began; `last` is the latest of those that are counted together. */
interface Tally {
  single: number;
  summed: number;
  last: RefusedRequest;
}

/** Statuses whose refusals are entries (contract §8). */
export const AUDITED_REFUSALS: ReadonlySet<number> = new Set([401, 403, 429]);

/** Notes refusals. An attack leaves a trace that does not grow with it. */
export class RefusalTrail {
  private tallies = new Map<string, Tally>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly reads: ReadTrail,
    private readonly clock: Clock,
  ) {}

  note(refused: RefusedRequest): void {
    this.timer ??= setTimeout(() => this.endSecond(), SECOND_MS);
    const known = this.tallies.has(refused.address) || this.tallies.size < MAX_ADDRESSES;
    const name = known ? refused.address : '';
    const tally = this.tallies.get(name) ?? { single: 0, summed: 0, last: refused };
    this.tallies.set(name, tally);
    tally.last = refused;
    if (known && tally.single < MAX_SINGLE && this.reads.takesNotes) {
      tally.single++;
      this.write(refused);
    } else {
      tally.summed++;
    }
  }

  /** Writes what is counted; call it before the last entries are written. */
  end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const [address, { summed, last }] of this.tallies) {
      if (summed === 0) continue;
      const { status } = last;
      this.write({ status, address, requestId: '' }, summed);
    }
    this.tallies = new Map();
  }

  private endSecond(): void {
    // Where too much waits to be written the counts go on; what they hold is bounded.
    if (this.reads.takesNotes) this.end();
    else this.timer = setTimeout(() => this.endSecond(), SECOND_MS);
  }

  private write({ status, address, requestId, who = '', client, org }: RefusedRequest, count?: number) {
    this.reads.note({
      org: org ?? null,
      at: new Date(this.clock()).toISOString(),
      actor: { who, address: address || null, requestId: requestId || null },
      operation: 'refused',
      status,
      client,
      count,
    });
  }
}
