import sql from 'sql-template-tag';
import type { Service } from '../../service.ts';
import { resumeImports } from './stagedimport.ts';

/** Between two looks for imports whose process has ended. */
const LOOK_MS = 10_000;

/** Between two removals of what undecided imports have left, without which nobody would notice them. */
const SWEEP_MS = 60 * 60 * 1000;

/** Goes on with imports that were decided, and removes what others have left, while a server runs. */
export class ImportResumer {
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  /** When to remove, by `performance.now()`: not with the first look, which would keep an import at the start waiting. */
  private sweepAt = 0;

  constructor(
    private readonly service: Service,
    private readonly onFault: (error: unknown) => void,
    private readonly lookMs = LOOK_MS,
  ) {}

  /** Looks now, and again until it is closed. */
  start(): void {
    this.timer ??= setInterval(() => this.look(), this.lookMs).unref();
    this.sweepAt = performance.now() + this.lookMs / 2;
    this.look();
  }

  /** Ends between two parts of an import; whoever comes next goes on with it. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    await this.running;
  }

  private look(): void {
    const { signal } = this.stopping;
    if (signal.aborted) return;
    this.running ??= this.resume(signal)
      .catch((error: unknown) => {
        if (!signal.aborted) this.onFault(error);
      })
      .finally(() => {
        this.running = undefined;
      });
  }

  private async resume(signal: AbortSignal): Promise<void> {
    const { store } = this.service;
    const isDecided = (await store.read.get(sql`SELECT 1 AS found FROM imports LIMIT 1`)) !== undefined;
    if (!isDecided && performance.now() < this.sweepAt) return;
    // The process that has it is alive.
    const claim = await store.claimImports();
    if (claim === undefined) return;
    try {
      await resumeImports(this.service, claim, { signal });
      this.sweepAt = performance.now() + SWEEP_MS;
    } finally {
      await claim.release();
    }
  }
}
