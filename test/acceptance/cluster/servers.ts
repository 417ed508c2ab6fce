import { setTimeout as sleep } from 'node:timers/promises';
import { type Served, serve } from '../molar.ts';

/** Several servers on one database, some of which are killed and started again while others work. */
export class Cluster {
  /** How many were killed. */
  killed = 0;
  private readonly folder: string;
  private readonly args: readonly string[];
  private readonly running: (Served | undefined)[] = [];

  constructor(folder: string, args: readonly string[]) {
    this.folder = folder;
    this.args = args;
  }

  async start(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, (_, at) => this.startAt(at)));
  }

  /** Where a server listens: the one asked for, or another when it is down. */
  async url(preferred: number): Promise<string> {
    for (;;) {
      const order = this.running.map((_, at) => this.running[(preferred + at) % this.running.length]);
      const found = order.find((served) => served !== undefined);
      if (found !== undefined) return found.url;
      await sleep(50);
    }
  }

  /** Kills one after another with SIGKILL, and starts each again, until the signal is aborted. */
  async killInTurn(everyMs: number, signal: AbortSignal): Promise<void> {
    for (let at = 0; !signal.aborted; at = (at + 1) % this.running.length) {
      await sleep(everyMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await this.stopAt(at, 'SIGKILL');
      this.killed++;
      await this.startAt(at);
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await Promise.all(this.running.map((_, at) => this.stopAt(at, signal)));
  }

  private async startAt(at: number): Promise<void> {
    this.running[at] = await serve(this.folder, this.args);
  }

  private async stopAt(at: number, signal: NodeJS.Signals): Promise<void> {
    const served = this.running[at];
    this.running[at] = undefined;
    await served?.stop(signal);
  }
}

/** Runs servers' work and the killing side by side; the killing ends when the work does. */
export async function whileKilling(cluster: Cluster, everyMs: number, work: () => Promise<void>): Promise<void> {
  const done = new AbortController();
  const killing = cluster.killInTurn(everyMs, done.signal);
  try {
    await work();
  } finally {
    done.abort();
    await killing;
  }
}
