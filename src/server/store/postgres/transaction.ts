import type { QueryResult } from 'pg';
import type { Sql } from 'sql-template-tag';
import { queueEntries } from '../auditlog.ts';
import { CountBuffer, writeCounts } from '../counts.ts';
import { writeLogs } from '../logs.ts';
import { nextId } from '../sequences.ts';
import type { CountChange, LogRow, Statement, Transaction } from '../store.ts';
import { Spill } from './spill.ts';
import type { Connection } from './statements.ts';

/** Maximum pending statements of one transaction. */
const MAX_PENDING_STATEMENTS = 500;

/** Statements after which plans are made anew for the first time; then after four times as many, and so on. */
const FIRST_REPLAN = 256;

/** Thrown by a work in a group that is a bulk load: it runs again, in a transaction of its own. */
export class NeedsOwnTransaction extends Error {}

/** What a work has noted for the end of its transaction. */
export interface Settled {
  readonly counts: readonly CountChange[];
  readonly rows: readonly LogRow[];
}

/**
 * One work inside a transaction of PostgreSQL, and the rows of logs that it has appended. A bulk load does not wait for what
 * it writes: the database replies in order, so every read sees it, and a fault is thrown by the next statement, or at the
 * end.
 */
export class PostgresTransaction implements Transaction {
  private readonly spill: Spill;
  private appended: LogRow[] = [];
  private readonly changes = new CountBuffer();
  private bulkLoading = false;
  private pending: Promise<void>[] = [];
  private sent = 0;
  private replanned = FIRST_REPLAN;
  private fault: { readonly error: unknown } | undefined;

  /** `alone`: the transaction is this work's only, so it has no time limit and may be a bulk load. */
  constructor(
    private readonly connection: Connection,
    private readonly alone: boolean,
  ) {
    this.spill = new Spill(this);
  }

  async all<T extends object>(statement: Statement): Promise<T[]> {
    return (await this.reply(statement)).rows as T[];
  }

  async get<T extends object>(statement: Statement): Promise<T | undefined> {
    return (await this.reply(statement)).rows[0] as T | undefined;
  }

  async run(statement: Statement): Promise<number> {
    if (!this.bulkLoading) return (await this.reply(statement)).rowCount ?? 0;
    if (this.fault !== undefined) throw this.fault.error;
    const sent = this.connection.run(statement).then(
      () => {},
      (error: unknown) => {
        this.fault ??= { error };
      },
    );
    this.pending.push(sent);
    if (++this.sent === this.replanned) {
      this.connection.replan();
      this.replanned *= 4;
    }
    if (this.pending.length >= MAX_PENDING_STATEMENTS) await this.pending.splice(0, MAX_PENDING_STATEMENTS / 2).at(-1);
    return 0;
  }

  nextId(org: number, type: string): Promise<number> {
    return nextId(this, org, type);
  }

  count(change: CountChange): void {
    this.changes.add(change);
  }

  async append(row: LogRow): Promise<void> {
    if (this.alone && row.log === 'stream') await this.spill.add(row.values);
    else this.appended.push(row);
  }

  async appendSelected(org: number, select: Sql, rows: number): Promise<void> {
    if (!this.alone) throw new NeedsOwnTransaction();
    await this.spill.addSelected(org, select, rows);
  }

  /** What is still to be written at the end of the transaction; the head of a log may be locked from here on. */
  async settled(): Promise<Settled> {
    await this.drain();
    this.bulkLoading = false;
    const counts = this.changes.take();
    // Everybody takes the rows of counts before the head of a log.
    if (this.alone) await writeCounts(this, counts);
    return { counts: this.alone ? [] : counts, rows: [...(await this.spill.settle()), ...this.appended] };
  }

  async beginBulkLoad(tables: readonly string[]): Promise<{ restore(): Promise<void> }> {
    if (!this.alone) throw new NeedsOwnTransaction();
    await planForBulkLoad(this.connection);
    this.bulkLoading = true;
    return {
      restore: async () => {
        await this.drain();
        await planForReading(this.connection, tables);
      },
    };
  }

  /** Resolves when every pending statement has been replied to. */
  private async drain(): Promise<void> {
    await Promise.all(this.pending.splice(0));
    if (this.fault !== undefined) throw this.fault.error;
  }

  private async reply(statement: Statement): Promise<QueryResult> {
    try {
      return await this.connection.run(statement);
    } catch (error) {
      // After a fault the database refuses everything else: the first one says why.
      throw this.fault?.error ?? error;
    }
  }
}

/** Writes what the works of a transaction have counted, and numbers and writes what they have appended; the last step before the commit. */
export async function writeSettled(connection: Connection, settled: readonly Settled[]): Promise<void> {
  const tx = new PostgresTransaction(connection, false);
  const counts = new CountBuffer();
  for (const change of settled.flatMap((of) => of.counts)) counts.add(change);
  await writeCounts(tx, counts.take());
  const rows = settled.flatMap((of) => of.rows);
  if (rows.length > 0) await writeLogs(tx, rows, queueEntries);
}

/** Settings by name, where the database knows them; others that speak its protocol may not. */
const SETTINGS = "('plan_cache_mode', 'enable_seqscan', 'enable_hashjoin', 'enable_mergejoin')";

/**
 * For a bulk load: the same few statements run millions of times, so planning each anew would cost more than running it, and
 * a plan made while tables are small has to suit large ones.
 */
export async function planForBulkLoad(connection: Connection): Promise<void> {
  await connection.command(
    `SELECT set_config(name, CASE name WHEN 'plan_cache_mode' THEN 'force_generic_plan' ELSE 'off' END, true)
      FROM pg_settings WHERE name IN ${SETTINGS}`,
  );
}

/** Undoes that, and refreshes the planner's statistics of the tables, so that what reads all of them is planned for it. */
export async function planForReading(connection: Connection, tables: readonly string[]): Promise<void> {
  connection.replan();
  await connection.command(
    `SELECT set_config(name, reset_val, true) FROM pg_settings WHERE name IN ${SETTINGS}; SAVEPOINT analyzing`,
  );
  try {
    await connection.command(`ANALYZE ${tables.join(', ')}`);
  } catch {
    // No more than advice to the planner: a database that takes no such list is as right without it.
    await connection.command('ROLLBACK TO SAVEPOINT analyzing');
  }
  await connection.command('RELEASE SAVEPOINT analyzing');
}
