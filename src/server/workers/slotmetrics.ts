import { countersOf, type ToldMetrics } from '../metrics/route.ts';

/** Milliseconds that a process may take to tell its metrics; then what it told last counts. */
const METRICS_MS = 2000;

/** The metrics of the processes of one slot: what those counted that have ended is not lost, so that no counter falls. */
export class SlotMetrics {
  private last: ToldMetrics | undefined;
  private ofEnded: Promise<ToldMetrics | undefined> = Promise.resolve(undefined);

  /** The present process has told its metrics. */
  keep(told: ToldMetrics): void {
    this.last = told;
  }

  /** The present process has ended. */
  end(): void {
    const { last, ofEnded } = this;
    this.last = undefined;
    if (last === undefined) return;
    this.ofEnded = ofEnded.then((before) => countersOf(before === undefined ? [last] : [before, last]));
  }

  /** What the processes of the slot have counted that have ended. */
  async ended(): Promise<ToldMetrics[]> {
    const ended = await this.ofEnded;
    return ended === undefined ? [] : [ended];
  }

  /** The same, and what the present process tells; `ask` asks it. */
  async all(ask: () => Promise<ToldMetrics>): Promise<ToldMetrics[]> {
    // By the global timers, as `pause` does, and no reason for the process to stay.
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, METRICS_MS, undefined).unref());
    const told = await Promise.race([ask(), late]).catch(() => undefined);
    if (told !== undefined) this.keep(told);
    return [...(this.last === undefined ? [] : [this.last]), ...(await this.ended())];
  }
}
