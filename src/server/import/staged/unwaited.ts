import type { Sql } from 'sql-template-tag';
import type { CountChange, LogRow, Statement, Transaction } from '../../store/store.ts';

/** A transaction that does not wait for what it writes: statements run in order, so every read sees it. */
export class Unwaited implements Transaction {
  constructor(private readonly tx: Transaction) {}

  all<T extends object>(statement: Statement): Promise<T[]> {
    return this.tx.all<T>(statement);
  }

  get<T extends object>(statement: Statement): Promise<T | undefined> {
    return this.tx.get<T>(statement);
  }

  /** Returns 0; a fault is thrown later. */
  async run(statement: Statement): Promise<number> {
    await this.tx.queue(statement);
    return 0;
  }

  queue(statement: Statement): Promise<void> {
    return this.tx.queue(statement);
  }

  nextId(org: number, type: string): Promise<number> {
    return this.tx.nextId(org, type);
  }

  count(change: CountChange): void {
    this.tx.count(change);
  }

  append(row: LogRow): Promise<void> {
    return this.tx.append(row);
  }

  appendSelected(org: number, select: Sql, rows: number): Promise<void> {
    return this.tx.appendSelected(org, select, rows);
  }

  beginBulkLoad(tables: readonly string[]): Promise<{ restore(): Promise<void> }> {
    return this.tx.beginBulkLoad(tables);
  }
}
