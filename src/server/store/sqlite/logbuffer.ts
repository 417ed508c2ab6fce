import type { Sql } from 'sql-template-tag';
import { type LogRow, writeLogs, writeSelected } from '../logs.ts';
import type { Transaction } from '../store.ts';

/** Rows that are kept back, at most. */
const MOST = 200;

/** Rows of logs that a transaction appends: they are kept back, since many are written in one statement. */
export class KeptRows {
  private rows: LogRow[] = [];
  private readonly tx: Pick<Transaction, 'get' | 'run'>;

  constructor(tx: Pick<Transaction, 'get' | 'run'>) {
    this.tx = tx;
  }

  async append(row: LogRow): Promise<void> {
    this.rows.push(row);
    if (this.rows.length >= MOST) await this.write();
  }

  /** As `Transaction.appendSelected`, behind what is kept. */
  async appendSelected(select: Sql, rows: number): Promise<void> {
    await this.write();
    await writeSelected(this.tx, select, rows);
  }

  /** Writes what is kept: before the transaction ends, at the latest. */
  async write(): Promise<void> {
    const { rows } = this;
    this.rows = [];
    if (rows.length > 0) await writeLogs(this.tx, rows);
  }

  /** What is kept goes with the writes that appended it. */
  forget(): void {
    this.rows = [];
  }
}
