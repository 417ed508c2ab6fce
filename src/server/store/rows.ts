import { bound, manyRows, type Texts } from './statement.ts';
import type { Transaction } from './store.ts';

/** Rows of one statement. */
const TOGETHER = 50;

type Values = readonly (string | number | null)[];

/**
 * Rows for one table that are written many at a time. Nothing that is not flushed can be read: flush before the table
 * is, and in the end.
 */
export class Rows {
  private waiting: Values[] = [];
  private readonly tx: Transaction;
  private readonly textsOf: (rows: number) => Texts;
  private readonly many: Texts;

  /** `head`: `INSERT INTO table (columns)`; `columns`: how many those are. */
  constructor(tx: Transaction, head: string, columns: number) {
    this.tx = tx;
    this.textsOf = (rows) => manyRows(head, columns, rows);
    this.many = this.textsOf(TOGETHER);
  }

  async add(values: Values): Promise<void> {
    if (this.waiting.push(values) < TOGETHER) return;
    const rows = this.waiting;
    this.waiting = [];
    await this.tx.run(bound(this.many, rows.flat()));
  }

  async flush(): Promise<void> {
    const rows = this.waiting;
    this.waiting = [];
    if (rows.length > 0) await this.tx.run(bound(this.textsOf(rows.length), rows.flat()));
  }
}
