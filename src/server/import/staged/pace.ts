import sql from 'sql-template-tag';
import { pause } from '../../pause.ts';
import type { Reader } from '../../store/store.ts';

/** How an import takes turns with those who read and write meanwhile. Times in milliseconds. */
export interface PaceLimits {
  /** Records of an import that is published in one transaction, with its decision. */
  readonly atOnce: number;
  /** Work of a transaction that publishes a part, while somebody is served and while nobody is. */
  readonly busyMs: number;
  readonly quietMs: number;
  /** Pause after a transaction while somebody is served, as a multiple of the time that it took. */
  readonly pause: number;
  /** How long somebody counts as being served after the last entry of the audit log. */
  readonly busyForMs: number;
  /** Records of a transaction: fewer would take nearly as long, for what each transaction does besides. */
  readonly least: number;
  readonly most: number;
}

export const PACE: PaceLimits = {
  atOnce: 100,
  busyMs: 2,
  quietMs: 100,
  pause: 1,
  busyForMs: 5_000,
  least: 20,
  most: 2_000,
};

/** Whoever is served, by whatever server, is noted in the audit log, and the import itself only in the end. */
const NOTED = sql`SELECT last_id FROM log_heads WHERE name = 'audit'`;

/** Says how many records the next transaction publishes, and waits between them. */
export class Pace {
  private perRecord = 0;
  private size: number;
  private noted: number | undefined;
  private busySince = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly read: Reader,
    private readonly limits: PaceLimits,
  ) {
    this.size = limits.least;
  }

  /** Looks whether anybody is being served; answers how many records may be published now. */
  async next(): Promise<number> {
    const row = await this.read.get<{ last_id: number }>(NOTED);
    if (this.noted !== undefined && row?.last_id !== this.noted) this.busySince = performance.now();
    this.noted = row?.last_id;
    if (this.perRecord === 0) return this.size;
    const time = this.isBusy() ? this.limits.busyMs : this.limits.quietMs;
    // Twice as many at most: what was measured may have been an exception.
    const { least, most } = this.limits;
    this.size = Math.max(least, Math.min(Math.floor(time / this.perRecord), this.size * 2, most));
    return this.size;
  }

  /** Notes a transaction: how many records it had, the time of its work, and from its beginning until it was on disk. */
  async published(records: number, workMs: number, totalMs: number): Promise<void> {
    const measured = workMs / records;
    this.perRecord = this.perRecord === 0 ? measured : (this.perRecord * 3 + measured) / 4;
    if (this.isBusy()) await pause(totalMs * this.limits.pause);
  }

  private isBusy(): boolean {
    return performance.now() - this.busySince < this.limits.busyForMs;
  }
}
