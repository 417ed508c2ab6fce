import sql from 'sql-template-tag';
import type { Service } from '../../service.ts';
import { resumeImports } from './stagedimport.ts';

/** Between two looks for imports whose process has ended. */
const LOOK_MS = 10_000;

/** Goes on with imports that were decided, while a server runs. */
export class ImportResumer {
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  constructor(
    private readonly service: Service,
    private readonly onFault: (error: unknown) => void,
  ) {}

  /** Looks now, and again until it is closed. */
  start(): void {
    this.timer ??= setInterval(() => this.look(), LOOK_MS).unref();
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
    if ((await store.read.get(sql`SELECT 1 AS found FROM imports LIMIT 1`)) === undefined) return;
    // The process that has it is alive.
    const claim = await store.claimImports();
    if (claim === undefined) return;
    try {
      await resumeImports(this.service, claim, { signal });
    } finally {
      await claim.release();
    }
  }
}
