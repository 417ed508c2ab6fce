import type { Store } from '../store/store.ts';
import { messageBounds } from './outbox.ts';

/** Commits that follow each other are looked at together: this long after the last look at the earliest. */
const SPACING_MS = 10;

/** How often the store is looked at while somebody waits: another process, an import, may have written. */
const POLL_MS = 1000;

interface Waiter {
  readonly seen: number;
  readonly wake: () => void;
}

/**
 * The end of the stream: knows the number of the newest message, and wakes those who wait for a newer one. One look at
 * the store serves all of them, and what a waiter costs does not depend on how much is written.
 */
export class Tip {
  /** Number of the newest message that is known; it may lag behind the store by a few milliseconds. */
  newest: number;
  private readonly store: Store;
  private readonly waiters = new Set<Waiter>();
  private readonly forget: () => void;
  private poll: NodeJS.Timeout | undefined;
  private planned: NodeJS.Timeout | undefined;
  private lookedAt = 0;
  private closed = false;
  /** Called before waiters wake. */
  onAdvance: () => void = () => {};

  constructor(store: Store, newest: number) {
    this.store = store;
    this.newest = newest;
    this.forget = store.onCommit(() => this.plan());
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
      this.poll ??= setInterval(() => this.waiters.size > 0 && this.plan(), POLL_MS).unref();
    });
    return this.newest > seen;
  }

  /** Reads the number of the newest message from the store, and wakes those who waited for it. */
  async look(): Promise<number> {
    clearTimeout(this.planned);
    this.planned = undefined;
    this.lookedAt = performance.now();
    const newest = (await messageBounds(this.store.read))?.newest ?? 0;
    if (newest <= this.newest) return this.newest;
    this.newest = newest;
    this.onAdvance();
    for (const waiter of [...this.waiters]) if (waiter.seen < newest) waiter.wake();
    return newest;
  }

  close(): void {
    this.closed = true;
    this.forget();
    clearInterval(this.poll);
    clearTimeout(this.planned);
    for (const waiter of [...this.waiters]) waiter.wake();
  }

  private plan(): void {
    if (this.closed || this.planned !== undefined) return;
    const wait = Math.max(0, this.lookedAt + SPACING_MS - performance.now());
    // A look that fails is made again at the next commit, or by the poll.
    this.planned = setTimeout(() => this.look().catch(() => {}), wait);
  }
}
