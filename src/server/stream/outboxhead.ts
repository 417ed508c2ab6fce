import sql, { join } from 'sql-template-tag';
import type { Store } from '../store/store.ts';
import { countBehind, type Head, readHeads } from './positions.ts';

/** Minimum time between two refreshes, so that commits in quick succession share one. */
const SPACING_MS = 10;

/** Polling interval while somebody waits: another process, such as an import, may have written. */
const POLL_MS = 1000;

/** Organizations that one query names. */
const MAX_AWAITED = 200;

interface Waiter {
  /** Undefined: waits for messages of any organization. */
  readonly org: number | undefined;
  readonly wake: () => void;
}

/**
 * The heads of the outbox: knows the number of each organization's newest message, and wakes those who wait for another
 * one. One query serves all of them, and reads no organization for which nobody waits.
 */
export class OutboxHead {
  /** By organization; they may lag behind the store by a few milliseconds, or more for whom nobody waits. */
  readonly known: Map<number, Head>;
  /** Messages written since this was made, as far as is known. */
  written = 0;
  /** Heads that were found to have moved. */
  moves = 0;
  private readonly waiters = new Set<Waiter>();
  private readonly unsubscribe: () => void;
  private poll: NodeJS.Timeout | undefined;
  private scheduled: NodeJS.Timeout | undefined;
  private refreshedAt = 0;
  private reading = Promise.resolve();
  private closed = false;
  /** Callback that runs before waiters are woken. */
  onAdvance: () => void = () => {};

  constructor(
    private readonly store: Store,
    heads: readonly Head[],
  ) {
    this.known = new Map(heads.map((head) => [head.org, head]));
    this.unsubscribe = store.onCommit(() => this.schedule());
  }

  /** The number of an organization's newest message known. */
  newestOf(org: number): number {
    return this.known.get(org)?.seq ?? 0;
  }

  /**
   * Resolves true when the newest number of an organization, or with undefined `moves`, is not `seen` any more; false
   * after `milliseconds`, on abort, or when this is closed.
   */
  async beyond(org: number | undefined, seen: number, milliseconds: number, signal?: AbortSignal): Promise<boolean> {
    const moved = () => (org === undefined ? this.moves : this.newestOf(org)) !== seen;
    if (moved()) return true;
    if (this.closed || signal?.aborted) return false;
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        this.waiters.delete(waiter);
        resolve();
      };
      const timer = setTimeout(wake, milliseconds);
      const waiter = { org, wake };
      signal?.addEventListener('abort', wake);
      this.waiters.add(waiter);
      this.poll ??= setInterval(() => this.schedule(), POLL_MS).unref();
      // What was committed before somebody waited has been read for others alone.
      this.schedule();
    });
    return moved();
  }

  /** Reads the heads of all organizations. */
  refresh(): Promise<void> {
    return this.read(undefined);
  }

  /** One after another, so that what was read earlier is not taken for newer. */
  private read(orgs: ReadonlySet<number> | undefined): Promise<void> {
    clearTimeout(this.scheduled);
    this.scheduled = undefined;
    this.refreshedAt = performance.now();
    this.reading = this.reading.catch(() => {}).then(() => this.readNow(orgs));
    return this.reading;
  }

  private async readNow(orgs: ReadonlySet<number> | undefined): Promise<void> {
    const heads = await readHeads(this.store.read, orgs && sql`org IN (${join([...orgs])})`);
    const moved = heads.filter(({ org, seq }) => seq !== this.newestOf(org));
    for (const head of moved) {
      this.written += countBehind(head, this.newestOf(head.org));
      this.known.set(head.org, head);
    }
    if (moved.length === 0) return;
    this.moves += moved.length;
    this.onAdvance();
    const found = new Set(moved.map(({ org }) => org));
    for (const { org, wake } of [...this.waiters]) if (org === undefined || found.has(org)) wake();
  }

  close(): void {
    this.closed = true;
    this.unsubscribe();
    clearInterval(this.poll);
    clearTimeout(this.scheduled);
    for (const waiter of [...this.waiters]) waiter.wake();
  }

  private schedule(): void {
    if (this.closed || this.scheduled !== undefined || this.waiters.size === 0) return;
    const wait = Math.max(0, this.refreshedAt + SPACING_MS - performance.now());
    // A refresh that fails is retried at the next commit, or by the poll.
    this.scheduled = setTimeout(() => this.read(this.awaited()).catch(() => {}), wait);
  }

  /** Those for which somebody waits; undefined: all, or so many that all are read. */
  private awaited(): ReadonlySet<number> | undefined {
    const orgs = new Set([...this.waiters].map(({ org }) => org));
    return orgs.size === 0 || orgs.size > MAX_AWAITED || orgs.has(undefined) ? undefined : (orgs as Set<number>);
  }
}
