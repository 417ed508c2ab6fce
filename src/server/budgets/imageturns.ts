import { FairShares } from '../fairscheduling.ts';
import { OverBudget } from './overbudget.ts';

/** Images of an organization that wait for their turn; more are refused. */
const MAX_WAITING = 32;

/** Images worked on at once on the whole server, unless one organization may have more; large ones also share memory. */
const MAX_TOGETHER = 2;

/**
 * Works on images in turn: so many of an organization at once, and a few more wait and are answered late. There is a
 * bound for all organizations together, since each image takes memory by its pixels: those that wait take turns then,
 * so that nobody waits behind the queue of another.
 */
export class ImageTurns extends FairShares {
  constructor(readonly limit: number) {
    super(Math.max(limit, MAX_TOGETHER), limit);
  }

  /** Runs the work when it is its organization's turn. Throws `OverBudget` when too many wait already. */
  override async run<T>(org: number, work: () => Promise<T>): Promise<T> {
    if (this.waitingOf(org) >= MAX_WAITING) throw new OverBudget('images');
    return super.run(org, work);
  }
}
