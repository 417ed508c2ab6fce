import { OverBudget } from './overbudget.ts';
import { Tally } from './tally.ts';

/** Images of an organization that wait for their turn; more are refused. */
const MAX_WAITING = 32;

/** Works on images in turn: so many of an organization at once, and a few more wait and are answered late. */
export class ImageTurns {
  /** Images worked on, by organization. */
  readonly working = new Tally<number>();
  private readonly waiting = new Map<number, (() => void)[]>();

  constructor(readonly limit: number) {}

  /** Runs the work when it is its organization's turn. Throws `OverBudget` when too many wait already. */
  async run<T>(org: number, work: () => Promise<T>): Promise<T> {
    if (this.working.of(org) < this.limit) this.working.add(org, 1);
    else await this.wait(org);
    try {
      return await work();
    } finally {
      // Whoever waits takes the turn over: nobody who comes in between can.
      const next = this.waiting.get(org)?.shift();
      if (next === undefined) this.working.add(org, -1);
      else next();
      if (this.waiting.get(org)?.length === 0) this.waiting.delete(org);
    }
  }

  private wait(org: number): Promise<void> {
    const queue = this.waiting.get(org) ?? [];
    if (queue.length >= MAX_WAITING) throw new OverBudget('images');
    this.waiting.set(org, queue);
    return new Promise((resolve) => {
      queue.push(resolve);
    });
  }
}
