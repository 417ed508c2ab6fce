import type { QueryResult } from 'pg';
import type { Sql } from 'sql-template-tag';
import { type LogRow, writeLogs } from '../logs.ts';
import { nextId } from '../sequences.ts';
import type { Statement, Transaction } from '../store.ts';
import { Spill } from './spill.ts';
import type { Connection } from './statements.ts';

/** Statements of one transaction that may be on their way at once. */
const UNDER_WAY = 500;

/** Statements after which plans are made again for the first time; then after four times as many, and so on. */
const REPLANNED = 256;

/** A work in a group fills tables: it is to be done again, in a transaction of its own. */
export class NeedsItsOwn extends Error {}

/**
 * One work inside a transaction of PostgreSQL, and the rows of logs that it has appended. While it fills tables it does
 * not wait for what it writes: the database answers in order, so whatever is read sees it, and a fault of it comes out
 * at the next statement, or in the end.
 */
export class PostgresTransaction implements Transaction {
  private readonly connection: Connection;
  private readonly alone: boolean;
  private readonly spill: Spill;
  private appended: LogRow[] = [];
  private filling = false;
  private underWay: Promise<void>[] = [];
  private sent = 0;
  private replanned = REPLANNED;
  private fault: { readonly error: unknown } | undefined;

  /** `alone`: the transaction is this work's only, so it may take its time and fill tables. */
  constructor(connection: Connection, alone: boolean) {
    this.connection = connection;
    this.alone = alone;
    this.spill = new Spill(this);
  }

  async all<T extends object>(statement: Statement): Promise<T[]> {
    return (await this.answered(statement)).rows as T[];
  }

  async get<T extends object>(statement: Statement): Promise<T | undefined> {
    return (await this.answered(statement)).rows[0] as T | undefined;
  }

  async run(statement: Statement): Promise<number> {
    if (!this.filling) return (await this.answered(statement)).rowCount ?? 0;
    if (this.fault !== undefined) throw this.fault.error;
    const sent = this.connection.run(statement).then(
      () => {},
      (error: unknown) => {
        this.fault ??= { error };
      },
    );
    this.underWay.push(sent);
    if (++this.sent === this.replanned) {
      this.connection.replan();
      this.replanned *= 4;
    }
    if (this.underWay.length >= UNDER_WAY) await this.underWay.splice(0, UNDER_WAY / 2).at(-1);
    return 0;
  }

  nextId(org: number, type: string): Promise<number> {
    return nextId(this, org, type);
  }

  async append(row: LogRow): Promise<void> {
    if (this.alone && row.log === 'stream') await this.spill.add(row.values);
    else this.appended.push(row);
  }

  async appendSelected(select: Sql, rows: number): Promise<void> {
    if (!this.alone) throw new NeedsItsOwn();
    await this.spill.addSelected(select, rows);
  }

  /** What was appended and is still to be numbered; the head of a log may be locked by it. */
  async settled(): Promise<readonly LogRow[]> {
    await this.arrived();
    this.filling = false;
    return [...(await this.spill.settle()), ...this.appended];
  }

  async fillFast(tables: readonly string[]): Promise<{ restore(): Promise<void> }> {
    if (!this.alone) throw new NeedsItsOwn();
    await planForFilling(this.connection);
    this.filling = true;
    return {
      restore: async () => {
        await this.arrived();
        await planForReading(this.connection, tables);
      },
    };
  }

  /** Resolves when everything that was sent has been answered. */
  private async arrived(): Promise<void> {
    await Promise.all(this.underWay.splice(0));
    if (this.fault !== undefined) throw this.fault.error;
  }

  private async answered(statement: Statement): Promise<QueryResult> {
    try {
      return await this.connection.run(statement);
    } catch (error) {
      // After a fault the database refuses everything else: the first one says why.
      throw this.fault?.error ?? error;
    }
  }
}

/** Numbers and writes what the works of a transaction have appended: the last thing before the commit. */
export async function writeAppended(connection: Connection, rows: readonly LogRow[]): Promise<void> {
  const tx = new PostgresTransaction(connection, false);
  await writeLogs(tx, rows);
}

/** Named where the database knows them; others that speak its protocol may not. */
const SETTINGS = "('plan_cache_mode', 'enable_seqscan', 'enable_hashjoin', 'enable_mergejoin')";

/**
 * For a transaction that fills tables: the same few statements run millions of times, so planning each anew would cost
 * more than running it; and a plan that is made while tables are small has to be one for large ones.
 */
export async function planForFilling(connection: Connection): Promise<void> {
  await connection.command(
    `SELECT set_config(name, CASE name WHEN 'plan_cache_mode' THEN 'force_generic_plan' ELSE 'off' END, true)
      FROM pg_settings WHERE name IN ${SETTINGS}`,
  );
}

/** Takes that back, and tells the planner what the tables hold now, so that what reads them whole is planned for it. */
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
