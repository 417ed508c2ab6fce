import { Queues } from '../../fairscheduling.ts';

/**
 * The connections of a pool, which owners get in turn: however many statements of one wait, others wait for few of them. An
 * owner has half of them at most, so that others find some free, too, whose requests need one several times.
 */
export class FairConnections {
  private readonly inUse = new Map<unknown, number>();
  private total = 0;
  private readonly queues = new Queues();

  constructor(private readonly most: number) {}

  /** Does a work that takes a connection of the pool when it is its owner's turn. */
  async run<T>(owner: unknown, work: () => Promise<T>): Promise<T> {
    if (this.isFree(owner)) this.take(owner, 1);
    else await this.queues.wait(owner);
    try {
      return await work();
    } finally {
      this.take(owner, -1);
      const next = this.queues.owners().find((waiting) => this.isFree(waiting));
      if (next !== undefined) {
        this.take(next, 1);
        this.queues.release(next);
      }
    }
  }

  private isFree(owner: unknown): boolean {
    return this.total < this.most && (this.inUse.get(owner) ?? 0) < this.most / 2;
  }

  private take(owner: unknown, count: 1 | -1): void {
    this.total += count;
    const used = (this.inUse.get(owner) ?? 0) + count;
    if (used === 0) this.inUse.delete(owner);
    else this.inUse.set(owner, used);
  }
}
