import { bound, manyRows, type Texts } from './statement.ts';
import type { Transaction } from './store.ts';

/** Rows of one statement. */
const ROWS_PER_STATEMENT = 50;

type Values = readonly (string | number | null)[];

/**
 * Buffers rows for one table, to write many at a time. Flush before the table is read, and at the end.
 */
export class RowBuffer {
  private waiting: Values[] = [];
  private readonly textsOf: (rows: number) => Texts;
  private readonly many: Texts;

  /** `head`: `INSERT INTO table (columns)`; `columns`: how many those are. */
  constructor(
    private readonly tx: Transaction,
    head: string,
    columns: number,
  ) {
    this.textsOf = (rows) => manyRows(head, columns, rows);
    this.many = this.textsOf(ROWS_PER_STATEMENT);
  }

  async add(values: Values): Promise<void> {
    if (this.waiting.push(values) < ROWS_PER_STATEMENT) return;
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
