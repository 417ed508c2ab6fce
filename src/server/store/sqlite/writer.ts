import { setTimeout as sleep } from 'node:timers/promises';
import { ownTurn } from '../../turns.ts';
import { type LogRow, writeLogs } from '../logs.ts';
import type { StoreCounts, Transaction } from '../store.ts';
import { suspendIndexes } from './indexes.ts';
import { type Connection, isBusy } from './open.ts';
import { Statements } from './statements.ts';

interface Job {
  readonly work: (tx: Transaction) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const GROUP_LIMIT = 256;

/** Rows of logs that are kept back until their write ends, at most. */
const KEPT_ROWS = 200;

const BUSY_LIMIT_MS = 50_000;

/**
 * The single writer. All writes that arrive in one turn of the event loop share one transaction, each under a
 * savepoint of its own, so one disk sync acknowledges them all and a failed one leaves the others alone.
 */
export class GroupWriter {
  private queue: Job[] = [];
  private running: Promise<void> | undefined;
  private readonly statements: Statements;
  private readonly connection: Connection;
  private readonly listeners = new Set<() => void>();
  /** Rows of logs of the write that runs now. */
  private appended: LogRow[] = [];
  readonly transaction: Transaction;
  readonly counts: StoreCounts = { writes: 0, commits: 0 };

  constructor(connection: Connection) {
    this.connection = connection;
    this.statements = new Statements(connection);
    this.transaction = {
      all: async (statement) => this.statements.all(statement),
      get: async (statement) => this.statements.get(statement),
      run: async (statement) => this.statements.run(statement),
      append: async (row) => {
        this.appended.push(row);
        if (this.appended.length >= KEPT_ROWS) await this.writeAppended();
      },
      fillFast: async (tables) => {
        const restore = suspendIndexes(this.connection, tables);
        return { restore: async () => restore() };
      },
    };
  }

  submit<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.queue.push({ work, resolve: resolve as (value: unknown) => void, reject });
      this.running ??= this.drain();
    });
  }

  /** Calls `listener` after each commit; the function returned ends that. */
  onCommit(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Resolves when everything submitted so far has been answered. */
  async idle(): Promise<void> {
    while (this.running !== undefined) await this.running;
  }

  private async drain(): Promise<void> {
    // One turn, so that requests read from other sockets in this turn join the group, and no long read comes with it.
    await ownTurn();
    while (this.queue.length > 0) {
      const group = this.queue.splice(0, GROUP_LIMIT);
      await this.runGroup(group);
    }
    this.running = undefined;
  }

  private async runGroup(group: readonly Job[]): Promise<void> {
    const answers: (() => void)[] = [];
    try {
      await this.begin();
      for (const job of group) answers.push(await this.runJob(job));
      this.connection.exec('COMMIT');
      this.counts.writes += group.length;
      this.counts.commits += 1;
    } catch (error) {
      if (this.connection.inTransaction) this.connection.exec('ROLLBACK');
      for (const job of group) job.reject(error);
      return;
    }
    for (const answer of answers) answer();
    for (const listener of this.listeners) listener();
  }

  private async runJob(job: Job): Promise<() => void> {
    this.connection.exec('SAVEPOINT request');
    try {
      const value = await job.work(this.transaction);
      await this.writeAppended();
      this.connection.exec('RELEASE request');
      return () => job.resolve(value);
    } catch (error) {
      this.appended = [];
      // A full disk ends the whole transaction: then there is no savepoint left to return to.
      if (!this.connection.inTransaction) throw error;
      this.connection.exec('ROLLBACK TO request');
      this.connection.exec('RELEASE request');
      return () => job.reject(error);
    }
  }

  /** This is the only writer, so rows may get their numbers before the others of the group have run. */
  private async writeAppended(): Promise<void> {
    const rows = this.appended;
    this.appended = [];
    if (rows.length > 0) await writeLogs(this.transaction, rows);
  }

  /** Takes the write lock; another process (an import) may hold it for a while. */
  private async begin(): Promise<void> {
    const until = Date.now() + BUSY_LIMIT_MS;
    for (let pause = 1; ; pause = Math.min(pause * 2, 100)) {
      try {
        this.connection.exec('BEGIN IMMEDIATE');
        return;
      } catch (error) {
        if (!isBusy(error) || Date.now() > until) throw error;
        await sleep(pause);
      }
    }
  }
}
