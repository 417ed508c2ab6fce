import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { LogRow, LogValues, Writing } from '../store.ts';
import { allotNumbers, MESSAGE_COLUMNS } from '../streamheads.ts';

/** Rows of one statement. */
const ROWS_PER_STATEMENT = 100;

/** Maximum rows in memory before they are spilled. */
const MAX_ROWS_IN_MEMORY = 2000;

const TEMPORARY = 'spilled_messages';
const columns = MESSAGE_COLUMNS;

/**
 * Stream rows of a transaction too large for memory: they are spilled to a temporary table, and numbered by the database
 * when all are known.
 */
export class Spill {
  private waiting: LogValues[] = [];
  private spilled = 0;
  /** Spilled rows of each organization. */
  private readonly ofOrganization = new Map<number, number>();
  private opened = false;

  constructor(private readonly tx: Pick<Writing, 'get' | 'run'>) {}

  async add(values: LogValues): Promise<void> {
    this.waiting.push(values);
    if (this.waiting.length >= MAX_ROWS_IN_MEMORY) await this.moveOut();
  }

  /** Adds the rows that a statement selects (`Transaction.appendSelected`); they do not pass through memory. */
  async addSelected(org: number, select: Sql, rows: number): Promise<void> {
    await this.moveOut();
    const names = raw(columns.join(', '));
    await this.tx.run(sql`INSERT INTO ${raw(TEMPORARY)} (${names}, seq)
      SELECT ${names}, s.position + CAST(${this.count(org, rows)} AS BIGINT)
        FROM (${select}) AS s`);
    this.spilled += rows;
  }

  /** Counts rows of an organization; returns how many it had before. */
  private count(org: number, rows: number): number {
    const before = this.ofOrganization.get(org) ?? 0;
    this.ofOrganization.set(org, before + rows);
    return before;
  }

  private async moveOut(): Promise<void> {
    await this.open();
    const rows = this.waiting;
    this.waiting = [];
    for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) {
      const part = rows
        .slice(at, at + ROWS_PER_STATEMENT)
        .map((row) => sql`(${join([...row, this.count(Number(row[0]), 1) + 1])})`);
      await this.tx.run(sql`INSERT INTO ${raw(TEMPORARY)} (${raw(columns.join(', '))}, seq) VALUES ${join(part)}`);
    }
    this.spilled += rows.length;
  }

  /** Writes spilled rows to the log and returns the others, if none were spilled; heads are locked from here on. */
  async settle(): Promise<LogRow[]> {
    if (this.spilled === 0) return this.waiting.splice(0).map((values): LogRow => ({ log: 'stream', values }));
    await this.moveOut();
    const names = raw(columns.join(', '));
    for (const [org, rows] of [...this.ofOrganization].sort(([a], [b]) => a - b)) {
      const before = await allotNumbers(this.tx, org, rows);
      await this.tx.run(sql`INSERT INTO stream_messages (${names}, seq)
        SELECT ${names}, seq + CAST(${before} AS BIGINT) FROM ${raw(TEMPORARY)} WHERE org = ${org} ORDER BY seq`);
    }
    return [];
  }

  private async open(): Promise<void> {
    if (this.opened) return;
    this.opened = true;
    await this.tx.run(sql`CREATE TEMP TABLE ${raw(TEMPORARY)} ON COMMIT DROP AS
      SELECT ${raw(columns.join(', '))}, seq FROM stream_messages WHERE false`);
  }
}
