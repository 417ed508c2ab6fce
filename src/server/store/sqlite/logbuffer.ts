import type { Sql } from 'sql-template-tag';
import { appendEntries } from '../auditlog.ts';
import { writeLogs } from '../logs.ts';
import type { LogRow, Writing } from '../store.ts';
import { writeSelected } from '../streamheads.ts';

/** Maximum buffered rows. */
const MAX_BUFFERED_ROWS = 200;

/** Buffers the rows of logs that a transaction appends, so that one statement writes many. */
export class LogBuffer {
  private rows: LogRow[] = [];

  constructor(private readonly tx: Writing) {}

  async append(row: LogRow): Promise<void> {
    this.rows.push(row);
    if (this.rows.length >= MAX_BUFFERED_ROWS) await this.write();
  }

  /** As `Transaction.appendSelected`, after what is buffered. */
  async appendSelected(org: number, select: Sql, rows: number): Promise<void> {
    await this.write();
    await writeSelected(this.tx, org, select, rows);
  }

  /** Writes what is buffered; before the transaction ends at the latest. */
  async write(): Promise<void> {
    const { rows } = this;
    this.rows = [];
    if (rows.length > 0) await writeLogs(this.tx, rows, appendEntries);
  }

  /** Drops what is buffered, with the writes that appended it. */
  clear(): void {
    this.rows = [];
  }
}
