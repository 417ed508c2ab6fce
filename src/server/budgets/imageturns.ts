import { OverBudget } from './overbudget.ts';
import { lowerSideThreads } from './sidethreads.ts';
import { Tally } from './tally.ts';

/** Images of an organization that wait for their turn; more are refused. */
const MAX_WAITING = 32;

/** Images worked on at once on the whole server, unless one organization may have more. */
const MAX_TOGETHER = 2;

/**
 * Works on images in turn: so many of an organization at once, and a few more wait and are answered late. There is a
 * bound for all organizations together, since each image takes memory by its pixels: those that wait take turns then,
 * so that nobody waits behind the queue of another.
 */
export class ImageTurns {
  /** Images worked on, by organization. */
  readonly working = new Tally<number>();
  /** By organization; whose turn it is comes first. */
  private readonly waiting = new Map<number, (() => void)[]>();
  private readonly together: number;

  constructor(readonly limit: number) {
    this.together = Math.max(limit, MAX_TOGETHER);
  }

  /** Runs the work when it is its organization's turn. Throws `OverBudget` when too many wait already. */
  async run<T>(org: number, work: () => Promise<T>): Promise<T> {
    if (this.hasRoom(org)) this.working.add(org, 1);
    else await this.wait(org);
    try {
      const done = work();
      // Now the threads that work on it exist; those that they start are as urgent as they are.
      lowerSideThreads();
      return await done;
    } finally {
      this.working.add(org, -1);
      this.startNext();
    }
  }

  private hasRoom(org: number): boolean {
    return this.working.total < this.together && this.working.of(org) < this.limit;
  }

  private wait(org: number): Promise<void> {
    const queue = this.waiting.get(org) ?? [];
    if (queue.length >= MAX_WAITING) throw new OverBudget('images');
    this.waiting.set(org, queue);
    return new Promise((resolve) => {
      queue.push(resolve);
    });
  }

  /** Gives the free turn to one that waits: nobody who comes in between can take it. */
  private startNext(): void {
    const found = [...this.waiting].find(([org]) => this.hasRoom(org));
    if (found === undefined) return;
    const [org, queue] = found;
    this.working.add(org, 1);
    queue.shift()?.();
    // Behind all others that wait.
    this.waiting.delete(org);
    if (queue.length > 0) this.waiting.set(org, queue);
  }
}
