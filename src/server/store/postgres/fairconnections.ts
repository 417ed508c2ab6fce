import { Queues } from '../../fairscheduling.ts';

/** The connections of a pool, which owners get in turn: however many statements of one wait, others wait for few of them. */
export class FairConnections {
  private inUse = 0;
  private readonly queues = new Queues();

  constructor(private readonly most: number) {}

  /** Does a work that takes a connection of the pool when it is its owner's turn. */
  async run<T>(owner: unknown, work: () => Promise<T>): Promise<T> {
    if (this.inUse < this.most) this.inUse++;
    else await this.queues.wait(owner);
    try {
      return await work();
    } finally {
      // Whoever is next takes the place over.
      if (this.queues.isEmpty) this.inUse--;
      else this.queues.releaseNext();
    }
  }
}
