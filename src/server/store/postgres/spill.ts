import sql, { join, raw, type Sql } from 'sql-template-tag';
import { LOGS } from '../logs.ts';
import type { LogRow, LogValues, Statement } from '../store.ts';

/** Rows of one statement. */
const ROWS_PER_STATEMENT = 100;

/** Maximum rows in memory before they are spilled. */
const MAX_ROWS_IN_MEMORY = 2000;

const { table, columns } = LOGS.stream;
const TEMPORARY = `spilled_${table}`;

interface Writing {
  run(statement: Statement): Promise<number>;
  get<T extends object>(statement: Statement): Promise<T | undefined>;
}

/**
 * Stream rows of a transaction too large for memory: they are spilled to a temporary table, and numbered by the database
 * when all are known.
 */
export class Spill {
  private waiting: LogValues[] = [];
  private spilled = 0;
  private opened = false;

  constructor(private readonly tx: Writing) {}

  async add(values: LogValues): Promise<void> {
    this.waiting.push(values);
    if (this.waiting.length >= MAX_ROWS_IN_MEMORY) await this.moveOut();
  }

  /** Adds the rows that a statement selects (`Transaction.appendSelected`); they do not pass through memory. */
  async addSelected(select: Sql, rows: number): Promise<void> {
    await this.moveOut();
    const names = raw(columns.join(', '));
    await this.tx.run(sql`INSERT INTO ${raw(TEMPORARY)} (seq, ${names})
      SELECT s.position + CAST(${this.spilled - 1} AS BIGINT), ${names} FROM (${select}) AS s`);
    this.spilled += rows;
  }

  private async moveOut(): Promise<void> {
    await this.open();
    const rows = this.waiting;
    this.waiting = [];
    for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) {
      const part = rows
        .slice(at, at + ROWS_PER_STATEMENT)
        .map((row, index) => sql`(${join([this.spilled + at + index, ...row])})`);
      await this.tx.run(sql`INSERT INTO ${raw(TEMPORARY)} (seq, ${raw(columns.join(', '))}) VALUES ${join(part)}`);
    }
    this.spilled += rows.length;
  }

  /** Writes spilled rows to the log and returns the others; the head of the log is locked from here on. */
  async settle(): Promise<LogRow[]> {
    const rest = this.waiting.map((values): LogRow => ({ log: 'stream', values }));
    this.waiting = [];
    if (this.spilled === 0) return rest;
    const head = await this.tx.get<{ last_id: number }>(
      sql`UPDATE log_heads SET last_id = last_id + ${this.spilled} WHERE name = 'stream' RETURNING last_id`,
    );
    if (head === undefined) throw new Error('The log stream has no head.');
    const names = raw(columns.join(', '));
    await this.tx.run(sql`INSERT INTO ${raw(table)} (id, ${names})
      SELECT seq + ${head.last_id - this.spilled + 1}, ${names} FROM ${raw(TEMPORARY)} ORDER BY seq`);
    return rest;
  }

  private async open(): Promise<void> {
    if (this.opened) return;
    this.opened = true;
    await this.tx.run(sql`CREATE TEMP TABLE ${raw(TEMPORARY)} ON COMMIT DROP AS
      SELECT id AS seq, ${raw(columns.join(', '))} FROM ${raw(table)} WHERE false`);
  }
}
