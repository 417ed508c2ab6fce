import { randomUUID } from 'node:crypto';
import sql, { raw } from 'sql-template-tag';
import type { Store } from './store/store.ts';

/** The database's own clock, so that the clocks of the servers do not matter. */
const NOW = raw('CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)');

/**
 * The right to do what one server at a time may do. It lasts for some time and is renewed before it ends; a server that
 * dies loses it by its end. On a store that only one server can have open it is always there.
 */
export class Lease {
  private readonly store: Store;
  private readonly name: string;
  private readonly milliseconds: number;
  private readonly holder = randomUUID();

  constructor(store: Store, name: string, milliseconds: number) {
    this.store = store;
    this.name = name;
    this.milliseconds = milliseconds;
  }

  /** Whether other servers can have it. */
  get isShared(): boolean {
    return this.store.shared !== undefined;
  }

  /** Takes or renews it for its time from now; false while another server has it. */
  async take(): Promise<boolean> {
    if (this.store.shared === undefined) return true;
    const row = await this.store.shared.get(sql`INSERT INTO leases AS l (name, holder, until)
      VALUES (${this.name}, ${this.holder}, ${NOW} + ${this.milliseconds})
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE l.holder = excluded.holder OR l.until < ${NOW}
      RETURNING name`);
    return row !== undefined;
  }

  /** Lets another server have it now. */
  async release(): Promise<void> {
    await this.store.shared?.get(sql`DELETE FROM leases WHERE name = ${this.name} AND holder = ${this.holder}`);
  }
}
