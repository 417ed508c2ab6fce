import { Queues } from '../fairscheduling.ts';
import { OverBudget } from './overbudget.ts';
import { Tally } from './tally.ts';

/** Images of an organization that wait for their turn; more are refused. */
const MAX_WAITING = 32;

/** Images worked on at once on the whole server, unless one organization may have more; large ones also share memory. */
const MAX_TOGETHER = 2;

/**
 * Works on images in turn: so many of an organization at once, and a few more wait and are answered late. There is a
 * bound for all organizations together, since each image takes memory by its pixels: those that wait take turns then,
 * so that nobody waits behind the queue of another.
 */
export class ImageTurns {
  /** Images worked on, by organization. */
  readonly working = new Tally<number>();
  private readonly queues = new Queues();
  /** Images that wait, by organization. */
  private readonly waiting = new Tally<number>();
  private readonly together: number;

  constructor(readonly limit: number) {
    this.together = Math.max(limit, MAX_TOGETHER);
  }

  /** Runs the work when it is its organization's turn. Throws `OverBudget` when too many wait already. */
  async run<T>(org: number, work: () => Promise<T>): Promise<T> {
    if (this.hasRoom(org)) this.working.add(org, 1);
    else await this.wait(org);
    try {
      return await work();
    } finally {
      this.working.add(org, -1);
      this.startNext();
    }
  }

  private hasRoom(org: number): boolean {
    return this.working.total < this.together && this.working.of(org) < this.limit;
  }

  private wait(org: number): Promise<void> {
    if (this.waiting.of(org) >= MAX_WAITING) throw new OverBudget('images');
    this.waiting.add(org, 1);
    return this.queues.wait(org);
  }

  /** Gives the free turn to one that waits: nobody who comes in between can take it. */
  private startNext(): void {
    const org = (this.queues.owners() as number[]).find((owner) => this.hasRoom(owner));
    if (org === undefined) return;
    this.working.add(org, 1);
    this.waiting.add(org, -1);
    this.queues.release(org);
  }
}
