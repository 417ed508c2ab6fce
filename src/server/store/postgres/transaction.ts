import type { QueryResult } from 'pg';
import type { Sql } from 'sql-template-tag';
import { queueEntries } from '../auditlog.ts';
import { CountBuffer, writeCounts } from '../counts.ts';
import { writeLogs } from '../logs.ts';
import { lockLastId, nextId, Sequences } from '../sequences.ts';
import type { CountChange, LogRow, Reader, Statement, Transaction } from '../store.ts';
import { writeSelected } from '../streamheads.ts';
import type { Connection } from './statements.ts';

/** Maximum pending statements of one transaction. */
const MAX_PENDING_STATEMENTS = 500;

/** Maximum rows of logs that a bulk load keeps in memory. */
const MAX_APPENDED_ROWS = 2000;

/** Statements after which plans are made anew for the first time; then after four times as many, and so on. */
const FIRST_REPLAN = 256;

/** Thrown by a work in a group that is a bulk load: it runs again, in a transaction of its own. */
export class NeedsOwnTransaction extends Error {}

/** What works have noted for the end of their transaction. */
export interface Noted {
  readonly counts: readonly CountChange[];
  readonly rows: readonly LogRow[];
}

/**
 * Works inside a transaction of PostgreSQL, and what they have noted for its end. They need not wait for what they write:
 * the database replies in order, so every read sees it, and a fault is thrown by the next statement that is waited for, or
 * is the reason why COMMIT does not commit (`failure`). A bulk load waits for nothing that it writes.
 */
export class PostgresTransaction implements Transaction {
  private readonly appended: LogRow[] = [];
  private readonly changes = new CountBuffer();
  private readonly sequences = new Sequences((org, type) => lockLastId(this, org, type));
  private bulkLoading = false;
  private pending: Promise<void>[] = [];
  private sent = 0;
  private replanned = FIRST_REPLAN;
  private fault: { readonly error: unknown } | undefined;
  /** How much it has written or noted so far. */
  writes = 0;

  /** `alone`: the transaction is one work's only, so it has no time limit and may be a bulk load. */
  constructor(
    private readonly connection: Connection,
    private readonly alone: boolean,
  ) {}

  async all<T extends object>(statement: Statement): Promise<T[]> {
    return (await this.reply(statement)).rows as T[];
  }

  async get<T extends object>(statement: Statement): Promise<T | undefined> {
    return (await this.reply(statement)).rows[0] as T | undefined;
  }

  /** Why the first statement has failed: the database then refuses everything else. */
  get failure(): unknown {
    return this.fault?.error;
  }

  async run(statement: Statement): Promise<number> {
    this.writes++;
    if (!this.bulkLoading) return (await this.reply(statement)).rowCount ?? 0;
    await this.queue(statement);
    return 0;
  }

  async queue(statement: Statement): Promise<void> {
    this.writes++;
    if (this.fault !== undefined) throw this.fault.error;
    const sent = this.connection.run(statement).then(
      () => {},
      (error: unknown) => {
        this.fault ??= { error };
      },
    );
    this.pending.push(sent);
    if (this.bulkLoading && ++this.sent === this.replanned) {
      this.connection.replan();
      this.replanned *= 4;
    }
    if (this.pending.length >= MAX_PENDING_STATEMENTS) await this.pending.splice(0, MAX_PENDING_STATEMENTS / 2).at(-1);
  }

  nextId(org: number, type: string): Promise<number> {
    this.writes++;
    // A long one would keep others from the sequence no longer than it has to.
    return this.alone ? nextId(this, org, type) : this.sequences.next(org, type);
  }

  count(change: CountChange): void {
    this.writes++;
    this.changes.add(change);
  }

  async append(row: LogRow): Promise<void> {
    this.writes++;
    this.appended.push(row);
    if (this.alone && this.appended.length >= MAX_APPENDED_ROWS) await this.writeAppended();
  }

  async appendSelected(org: number, select: Sql, rows: number): Promise<void> {
    if (!this.alone) throw new NeedsOwnTransaction();
    await this.writeAppended();
    await writeSelected(this, org, select, rows);
  }

  /** Nobody else writes to the organizations of a bulk load, so their heads may be locked to its end. */
  private async writeAppended(): Promise<void> {
    await writeLogs(this, this.appended.splice(0), queueEntries);
  }

  /** What is still to be written at the end of the transaction; the head of a log may be locked from here on. */
  async noted(): Promise<Noted> {
    for (const raised of this.sequences.flush()) await this.queue(raised);
    if (this.bulkLoading) await this.drain();
    this.bulkLoading = false;
    const counts = this.changes.take();
    // Everybody takes the rows of counts before the head of a log.
    if (this.alone) await writeCounts(this, counts);
    return { counts: this.alone ? [] : counts, rows: this.appended };
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
  async drain(): Promise<void> {
    await Promise.all(this.pending.splice(0));
    if (this.fault !== undefined) throw this.fault.error;
  }

  private async reply(statement: Statement): Promise<QueryResult> {
    try {
      return await this.connection.run(statement);
    } catch (error) {
      // After a fault the database refuses everything else: the first one says why.
      this.fault ??= { error };
      throw this.fault.error;
    }
  }
}

/** Writes what the works of a transaction have counted, and numbers and writes what they have appended; the last step before the commit. Returns whether entries of the audit log wait for their place. */
export async function writeNoted(tx: PostgresTransaction, noted: readonly Noted[]): Promise<boolean> {
  const counts = new CountBuffer();
  for (const change of noted.flatMap((of) => of.counts)) counts.add(change);
  await writeCounts(tx, counts.take());
  const rows = noted.flatMap((of) => of.rows);
  if (rows.length > 0) await writeLogs(tx, rows, queueEntries);
  return rows.some(({ log }) => log === 'audit');
}

/**
 * Ways of the planner that suit reading a table from one end to the other. What cannot be done otherwise is still done so, at
 * a price so high that PostgreSQL would compile the statement first: hence `jit`.
 */
const WAYS = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit'];

const SETTINGS = ['plan_cache_mode', ...WAYS];

/** Those of some settings that the database knows, which others that speak its protocol may not; `pg_settings` takes milliseconds. */
const known = (names: readonly string[]) =>
  `unnest(ARRAY['${names.join("', '")}']) AS known (name) WHERE current_setting(name, true) IS NOT NULL`;

/**
 * What makes a transaction of requests find what it writes by indexes. The planner takes a table that is nearly always
 * empty, such as that of changes to the ledger, for one of 2,550 rows, and would read the tables that it joins it with from
 * one end to the other.
 */
export async function planByIndex(read: Reader): Promise<string> {
  const text = `SELECT name FROM ${known(WAYS)}`;
  const ways = await read.all<{ name: string }>({ sql: text, text, values: [] });
  return ways.map(({ name }) => `SET LOCAL ${name} = off`).join('; ');
}

/**
 * For a bulk load: the same few statements run millions of times, so planning each anew would cost more than running it, and
 * a plan made while tables are small has to suit large ones. What was prepared before is prepared again: it would go on
 * meaning a table that a temporary one of the same name hides from now on.
 */
export async function planForBulkLoad(connection: Connection): Promise<void> {
  connection.replan();
  await connection.command(
    `SELECT set_config(name, CASE name WHEN 'plan_cache_mode' THEN 'force_generic_plan' ELSE 'off' END, true)
      FROM ${known(SETTINGS)}`,
  );
}

/** Undoes that, and refreshes the planner's statistics of the tables, so that what reads all of them is planned for it. */
export async function planForReading(connection: Connection, tables: readonly string[]): Promise<void> {
  connection.replan();
  await connection.command(
    `SELECT set_config(name, reset_val, true) FROM pg_settings WHERE name IN ('${SETTINGS.join("', '")}'); SAVEPOINT analyzing`,
  );
  try {
    await connection.command(`ANALYZE ${tables.join(', ')}`);
  } catch {
    // No more than advice to the planner: a database that takes no such list is as right without it.
    await connection.command('ROLLBACK TO SAVEPOINT analyzing');
  }
  await connection.command('RELEASE SAVEPOINT analyzing');
}
