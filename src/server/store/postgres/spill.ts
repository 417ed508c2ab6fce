import sql, { join, raw, type Sql } from 'sql-template-tag';
import { STREAM_LOG } from '../logs.ts';
import type { LogRow, LogValues, Statement } from '../store.ts';
import { allotNumbers } from '../streamheads.ts';

/** Rows of one statement. */
const ROWS_PER_STATEMENT = 100;

/** Maximum rows in memory before they are spilled. */
const MAX_ROWS_IN_MEMORY = 2000;

const { table, columns } = STREAM_LOG;
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
  /** Spilled rows of each organization. */
  private readonly ofOrganization = new Map<number, number>();
  private opened = false;

  constructor(private readonly tx: Writing) {}

  async add(values: LogValues): Promise<void> {
    this.waiting.push(values);
    if (this.waiting.length >= MAX_ROWS_IN_MEMORY) await this.moveOut();
  }

  /** Adds the rows that a statement selects (`Transaction.appendSelected`); they do not pass through memory. */
  async addSelected(org: number, select: Sql, rows: number): Promise<void> {
    await this.moveOut();
    const names = raw(columns.join(', '));
    await this.tx.run(sql`INSERT INTO ${raw(TEMPORARY)} (position, ${names}, seq)
      SELECT s.position + CAST(${this.spilled} AS BIGINT), ${names}, s.position + CAST(${this.count(org, rows)} AS BIGINT)
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
        .map(
          (row, index) => sql`(${join([this.spilled + at + index + 1, ...row, this.count(Number(row[0]), 1) + 1])})`,
        );
      await this.tx.run(
        sql`INSERT INTO ${raw(TEMPORARY)} (position, ${raw(columns.join(', '))}, seq) VALUES ${join(part)}`,
      );
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
    // Each organization's numbers go on where they were, before they are allotted.
    await this.tx.run(sql`INSERT INTO ${raw(table)} (id, ${names}, seq)
      SELECT position + ${head.last_id - this.spilled}, ${names},
          seq + COALESCE((SELECT h.seq FROM stream_heads h WHERE h.org = spilled.org), 0)
        FROM ${raw(TEMPORARY)} AS spilled ORDER BY position`);
    for (const [org, rows] of this.ofOrganization) await allotNumbers(this.tx, org, rows);
    return rest;
  }

  private async open(): Promise<void> {
    if (this.opened) return;
    this.opened = true;
    await this.tx.run(sql`CREATE TEMP TABLE ${raw(TEMPORARY)} ON COMMIT DROP AS
      SELECT id AS position, ${raw(columns.join(', '))}, seq FROM ${raw(table)} WHERE false`);
  }
}
