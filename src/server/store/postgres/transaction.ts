import { type LogRow, writeLogs } from '../logs.ts';
import type { Statement, Transaction } from '../store.ts';
import { Spill } from './spill.ts';
import type { Connection } from './statements.ts';

/** A work in a group fills tables: it is to be done again, in a transaction of its own. */
export class NeedsItsOwn extends Error {}

/** One work inside a transaction of PostgreSQL, and the rows of logs that it has appended. */
export class PostgresTransaction implements Transaction {
  private readonly connection: Connection;
  private readonly alone: boolean;
  private readonly spill: Spill;
  private appended: LogRow[] = [];

  /** `alone`: the transaction is this work's only, so it may take its time and fill tables. */
  constructor(connection: Connection, alone: boolean) {
    this.connection = connection;
    this.alone = alone;
    this.spill = new Spill(this);
  }

  async all<T extends object>(statement: Statement): Promise<T[]> {
    return (await this.connection.run(statement)).rows as T[];
  }

  async get<T extends object>(statement: Statement): Promise<T | undefined> {
    return (await this.connection.run(statement)).rows[0] as T | undefined;
  }

  async run(statement: Statement): Promise<number> {
    return (await this.connection.run(statement)).rowCount ?? 0;
  }

  async append(row: LogRow): Promise<void> {
    if (this.alone && row.log === 'stream') await this.spill.add(row.values);
    else this.appended.push(row);
  }

  /** What was appended and is still to be numbered; the head of a log may be locked by it. */
  async settled(): Promise<readonly LogRow[]> {
    return [...(await this.spill.settle()), ...this.appended];
  }

  async fillFast(_tables: readonly string[]): Promise<{ restore(): Promise<void> }> {
    if (!this.alone) throw new NeedsItsOwn();
    return { restore: async () => {} };
  }
}

/** Numbers and writes what the works of a transaction have appended: the last thing before the commit. */
export async function writeAppended(connection: Connection, rows: readonly LogRow[]): Promise<void> {
  const tx = new PostgresTransaction(connection, false);
  await writeLogs(tx, rows);
}
