import { setTimeout as sleep } from 'node:timers/promises';
import { countWaiting, MAX_SEQUENCED, sequenceWaiting } from '../auditlog.ts';
import { statement } from '../statement.ts';
import type { Reader, Transaction } from '../store.ts';

/** Pause after a transaction, so that the entries of many commits share one. */
const PAUSE_MS = 20;

/** How often all numbers are looked through. */
const ALL_MS = 10_000;

/**
 * The entries are on disk already: if the database crashes before their places are, they get places again. A checkpoint
 * that names a place is synced itself, and with it every commit before it.
 */
const WITHOUT_SYNC = statement`SET LOCAL synchronous_commit = off`;

/**
 * Gives committed entries of the audit log their places, number and hash, so that no write of one organization waits for
 * the end of the log that all of them share (D54). One server at a time does it, any that has committed something, and also
 * for entries of other servers and of killed ones.
 */
export class Sequencer {
  private running: Promise<void> | undefined;
  private isQueued = false;
  private lowest = 0;
  /** Numbers down to here are looked at only every `ALL_MS`: until a vacuum the index holds what was there. */
  private passed = { below: 0, next: 0, at: Number.NEGATIVE_INFINITY };

  constructor(
    private readonly read: Reader,
    private readonly write: <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>,
  ) {}

  /** Something was committed: its entries get their places in some milliseconds. */
  wake(): void {
    this.isQueued = true;
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
  }

  /** Resolves when what has been committed so far has its place. */
  async finish(): Promise<void> {
    const below = this.below();
    while ((await countWaiting(this.read, below)) > 0) await this.sequence(below);
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.running !== undefined) await this.running;
  }

  private async run(): Promise<void> {
    while (this.isQueued) {
      this.isQueued = false;
      // What fails waits: the next commit tries again, and so does whoever asks to `finish`, and says why.
      const count = await this.sequence(this.below()).catch(() => 0);
      if (count === MAX_SEQUENCED) this.isQueued = true;
      else await sleep(PAUSE_MS);
    }
  }

  private async sequence(below: number): Promise<number> {
    const waited = await this.write(async (tx) => {
      const [numbers] = await Promise.all([sequenceWaiting(tx, below), tx.run(WITHOUT_SYNC)]);
      return numbers;
    });
    this.lowest = Math.min(this.lowest, ...waited);
    return waited.length;
  }

  /** Below which number to look: passed is what a look at everything found that long ago, so all commits have ended. */
  private below(): number {
    const now = performance.now();
    if (now - this.passed.at < ALL_MS) return this.passed.below;
    this.passed = { below: this.passed.next, next: this.lowest, at: now };
    return 0;
  }
}
