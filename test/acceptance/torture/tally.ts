import type { Kill } from './kills.ts';
import type { Logged } from './operation.ts';

/** Counts what rounds of kills have come across, for the figures of a run. */
export class Tally {
  rounds = 0;
  /** Kills before a server listened. */
  starts = 0;
  replayed = 0;
  files = 0;
  messages = 0;
  private readonly kills = new Map<Kill, number>();
  private readonly writes = new Map<string, number>();
  private acknowledged = 0;
  private unknown = 0;
  private done = 0;

  killed(kind: Kill): void {
    this.kills.set(kind, (this.kills.get(kind) ?? 0) + 1);
  }

  judged(log: readonly Logged[], done: number): void {
    for (const { operation, outcome } of log) {
      if (outcome === 'acknowledged') this.acknowledged++;
      else this.unknown++;
      if (outcome === 'acknowledged') this.writes.set(operation.name, (this.writes.get(operation.name) ?? 0) + 1);
    }
    this.done += done;
  }

  get text(): string {
    const counts = (map: ReadonlyMap<string, number>) =>
      [...map].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${name} ${count}`);
    return [
      `${this.rounds} rounds, killed ${counts(this.kills).join(', ')}; ${this.starts} times more while starting`,
      `${this.acknowledged} writes acknowledged, all there; ${this.unknown} not acknowledged: ${this.done} wholly there, ${this.unknown - this.done} not at all`,
      `acknowledged: ${counts(this.writes).join(', ')}`,
      `${this.replayed} kept answers given again, ${this.files} files compared byte by byte, ${this.messages} messages without a gap`,
    ].join('\n');
  }
}
