import type { Clock } from '../../../src/core/clock.ts';

/** From so many milliseconds on a sleep is longer than a service takes for a request that it is at. */
const LONG = 1000;

/**
 * The time that it is given plus all that was slept: a sleep ends as soon as what else is under way has had its turn, and
 * a long one not before the service is idle.
 */
export class FastClock implements Clock {
  /** Milliseconds. */
  slept = 0;
  private readonly idle: () => Promise<void>;
  private readonly base: () => number;
  private waiting: { sleeps: number; readonly work: () => Promise<void> }[] = [];

  constructor(idle: () => Promise<void> = () => Promise.resolve(), base: () => number = Date.now) {
    this.idle = idle;
    this.base = base;
  }

  readonly now = (): number => this.base() + this.slept;

  readonly sleep = async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    this.slept += milliseconds;
    await new Promise((done) => setImmediate(done));
    const due = this.waiting.filter((one) => --one.sleeps === 0);
    this.waiting = this.waiting.filter((one) => !due.includes(one));
    for (const { work } of due) await work();
    if (milliseconds >= LONG) await this.idle();
    signal?.throwIfAborted();
  };

  /** Does the work in the course of a sleep: of the next for 1, of the one after it for 2. */
  afterSleeps(sleeps: number, work: () => Promise<void>): void {
    this.waiting.push({ sleeps, work });
  }
}
