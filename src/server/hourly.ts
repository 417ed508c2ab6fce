const HOUR_MS = 60 * 60 * 1000;

/** Work that is done now and every hour until it is closed. What fails, as on a busy store, is done an hour later. */
export class Hourly {
  private readonly work: (signal: AbortSignal) => Promise<void>;
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(work: (signal: AbortSignal) => Promise<void>) {
    this.work = work;
  }

  start(): void {
    this.timer ??= setInterval(() => this.run(), HOUR_MS).unref();
    this.run();
  }

  /** Resolves when what is under way has stopped. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    await this.running;
  }

  private run(): void {
    const { signal } = this.stopping;
    this.running = this.running.then(() => (signal.aborted ? undefined : this.work(signal))).catch(() => {});
  }
}
