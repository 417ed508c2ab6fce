import { randomUUID } from 'node:crypto';
import sql from 'sql-template-tag';
import { DATABASE_NOW } from './store/schema/servers.ts';
import type { Reader, Store } from './store/store.ts';

/**
 * An exclusive lease among the servers of a store. It expires unless it is renewed, so a server that dies loses it. On a
 * store that only one server can open it is always granted.
 */
export class Lease {
  private readonly holder = randomUUID();

  constructor(
    private readonly store: Pick<Store, 'shared'>,
    private readonly name: string,
    private readonly milliseconds: number,
  ) {}

  /** Whether other servers compete for it. */
  get isShared(): boolean {
    return this.store.shared !== undefined;
  }

  /** Acquires or renews it from now on; false while another server holds it. */
  async take(): Promise<boolean> {
    if (this.store.shared === undefined) return true;
    const row = await this.store.shared.get(sql`INSERT INTO leases AS l (name, holder, until)
      VALUES (${this.name}, ${this.holder}, ${DATABASE_NOW} + ${this.milliseconds})
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE l.holder = excluded.holder OR l.until < ${DATABASE_NOW}
      RETURNING name`);
    return row !== undefined;
  }

  /**
   * Renews it from now on; false when another server has acquired it since `take`, even if it is free again. In a
   * transaction, nobody else acquires it before that ends.
   */
  async renew(on: Pick<Reader, 'get'> | undefined = this.store.shared): Promise<boolean> {
    if (this.store.shared === undefined || on === undefined) return true;
    const row = await on.get(sql`UPDATE leases SET until = ${DATABASE_NOW} + ${this.milliseconds}
      WHERE name = ${this.name} AND holder = ${this.holder} RETURNING name`);
    return row !== undefined;
  }

  /** Lets another server acquire it at once. */
  async release(): Promise<void> {
    await this.store.shared?.get(sql`DELETE FROM leases WHERE name = ${this.name} AND holder = ${this.holder}`);
  }
}

const HOUR_MS = 60 * 60 * 1000;

/** One of several servers does the work of an hour: the lease is neither renewed nor released. */
const LEASE_MS = HOUR_MS / 2;

/** A task on a store that runs now and every hour until it is closed. A run that fails, as on a busy store, is skipped. */
export class HourlyTask {
  private readonly lease: Lease;
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    store: Store,
    name: string,
    private readonly work: (signal: AbortSignal) => Promise<void>,
  ) {
    this.lease = new Lease(store, `hourly ${name}`, LEASE_MS);
  }

  start(): void {
    this.timer ??= setInterval(() => this.run(), HOUR_MS).unref();
    this.run();
  }

  /** Aborts a run in progress; resolves when it has ended. */
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
