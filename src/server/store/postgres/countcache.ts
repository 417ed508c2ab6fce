/** A connection that has died without a word tells of nothing any more: numbers are kept no longer than this. */
const LONGEST_MS = 5000;

/**
 * Numbers worked out of what is committed, until anybody is known to have committed (`Store.whileUnchanged`). Of commits
 * of other processes word comes a moment later: a number may be as old as that.
 */
export class KeptNumbers {
  private kept = new Map<string, number>();
  private since = 0;

  /** The numbers; nothing is kept while commits of others are not heard of. */
  get(hears: boolean): Map<string, number> {
    if (!hears || performance.now() - this.since > LONGEST_MS) this.drop();
    return this.kept;
  }

  /** Somebody committed. */
  drop(): void {
    this.kept = new Map();
    this.since = performance.now();
  }
}
