import sql from 'sql-template-tag';
import type { Reader } from '../store/store.ts';
import { OverBudget } from './overbudget.ts';

/**
 * Async deliveries that are unfinished, of each organization and token; those of an API client count together, as it gets
 * tokens whenever it asks. They are counted in the store, so that the budget holds over restarts and on all servers of a
 * database: in the write that adds one, since writes of an organization run one after another.
 */
export class DeliveryBudget {
  constructor(readonly limit: number) {}

  /** Throws `OverBudget` when the holder of a token (`Grant.who`) has as many as it may. */
  async requireRoom(read: Reader, org: number, holder: string): Promise<void> {
    const row = await read.get<{ unfinished: number }>(
      sql`SELECT COUNT(*) AS unfinished FROM async_deliveries WHERE org = ${org} AND who = ${holder}`,
    );
    if ((row?.unfinished ?? 0) >= this.limit) throw new OverBudget('async');
  }

  /** What the holder with the most has. */
  async most(read: Reader): Promise<number> {
    const row = await read.get<{ unfinished: number }>(
      sql`SELECT COUNT(*) AS unfinished FROM async_deliveries GROUP BY org, who ORDER BY 1 DESC LIMIT 1`,
    );
    return row?.unfinished ?? 0;
  }
}
