import type { Store } from '../store/store.ts';
import { messageBounds } from './outbox.ts';

/** Minimum time between two refreshes, so that commits in quick succession share one. */
const SPACING_MS = 10;

/** Polling interval while somebody waits: another process, such as an import, may have written. */
const POLL_MS = 1000;

interface Waiter {
  readonly seen: number;
  readonly wake: () => void;
}

/**
 * The head of the outbox: knows the number of the newest message, and wakes those who wait for a newer one. One query
 * serves all of them, and the cost of a waiter does not depend on how much is written.
 */
export class OutboxHead {
  private readonly waiters = new Set<Waiter>();
  private readonly unsubscribe: () => void;
  private poll: NodeJS.Timeout | undefined;
  private scheduled: NodeJS.Timeout | undefined;
  private refreshedAt = 0;
  private closed = false;
  /** Callback that runs before waiters are woken. */
  onAdvance: () => void = () => {};

  constructor(
    private readonly store: Store,
    /** Number of the newest known message; it may lag behind the store by a few milliseconds. */
    public newest: number,
  ) {
    this.unsubscribe = store.onCommit(() => this.schedule());
  }

  /** Resolves true when there is a message after `seen`, false after `milliseconds`, on abort, or when this is closed. */
  async beyond(seen: number, milliseconds: number, signal?: AbortSignal): Promise<boolean> {
    if (this.newest > seen) return true;
    if (this.closed || signal?.aborted) return false;
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        this.waiters.delete(waiter);
        resolve();
      };
      const timer = setTimeout(wake, milliseconds);
      const waiter = { seen, wake };
      signal?.addEventListener('abort', wake);
      this.waiters.add(waiter);
      this.poll ??= setInterval(() => this.waiters.size > 0 && this.schedule(), POLL_MS).unref();
    });
    return this.newest > seen;
  }

  /** Reads the number of the newest message from the store, and wakes those who waited for it. */
  async refresh(): Promise<number> {
    clearTimeout(this.scheduled);
    this.scheduled = undefined;
    this.refreshedAt = performance.now();
    const newest = (await messageBounds(this.store.read))?.newest ?? 0;
    if (newest <= this.newest) return this.newest;
    this.newest = newest;
    this.onAdvance();
    for (const waiter of [...this.waiters]) if (waiter.seen < newest) waiter.wake();
    return newest;
  }

  close(): void {
    this.closed = true;
    this.unsubscribe();
    clearInterval(this.poll);
    clearTimeout(this.scheduled);
    for (const waiter of [...this.waiters]) waiter.wake();
  }

  private schedule(): void {
    if (this.closed || this.scheduled !== undefined) return;
    const wait = Math.max(0, this.refreshedAt + SPACING_MS - performance.now());
    // A refresh that fails is retried at the next commit, or by the poll.
    this.scheduled = setTimeout(() => this.refresh().catch(() => {}), wait);
  }
}
