import { Lease } from './lease.ts';
import type { Store } from './store/store.ts';

const HOUR_MS = 60 * 60 * 1000;

/** Of several servers one does the work of an hour: the lease is neither renewed nor given back. */
const LEASE_MS = HOUR_MS / 2;

/** Work on a store that is done now and every hour until it is closed. What fails, as on a busy store, is done an hour later. */
export class Hourly {
  private readonly lease: Lease;
  private readonly work: (signal: AbortSignal) => Promise<void>;
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(store: Store, name: string, work: (signal: AbortSignal) => Promise<void>) {
    this.lease = new Lease(store, `hourly ${name}`, LEASE_MS);
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
    this.running = this.running
      .then(async () => {
        if (!signal.aborted && (await this.lease.take())) await this.work(signal);
      })
      .catch(() => {});
  }
}
