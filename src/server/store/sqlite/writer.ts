import { ownTurn } from '../../fairscheduling.ts';
import type { Statement, StoreCounts, Transaction } from '../store.ts';
import { fillTables } from './bulkloadtransaction.ts';
import { isEmpty } from './indexes.ts';
import { takeLock } from './lock.ts';
import { KeptRows } from './logbuffer.ts';
import type { Connection } from './open.ts';
import { Sequences } from './sequences.ts';
import { Statements } from './statements.ts';
import { writtenTables } from './tablenumbers.ts';

interface Job {
  readonly work: (tx: Transaction) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Hears of the transactions of a writer, whose lock keeps all others from writing meanwhile. */
export interface CommitWatcher {
  begun(): void;
  /** It is about to be committed, which may begin the journal anew: nobody should be reading. */
  committing(): void;
  /** It is committed, and has written to these tables. */
  committed(tables: ReadonlySet<string>): void;
}

const GROUP_LIMIT = 256;

/** A work fills tables: it is to be done again, in another kind of transaction. */
class FillsTables extends Error {
  readonly tables: readonly string[];

  constructor(tables: readonly string[]) {
    super();
    this.tables = tables;
  }
}

/**
 * The single writer. All writes that arrive in one turn of the event loop share one transaction, so one disk sync
 * acknowledges them all. A savepoint for each would have the database copy every page they touch; so they run without,
 * and only when one of them fails is the whole group begun again, each under a savepoint of its own: then the failed
 * one leaves the others alone.
 */
export class GroupWriter {
  private queue: Job[] = [];
  private running: Promise<void> | undefined;
  private readonly statements: Statements;
  private readonly sequences: Sequences;
  private readonly connection: Connection;
  private readonly listeners = new Set<() => void>();
  private readonly watcher: CommitWatcher | undefined;
  /** Tables that the writes that run now have written to. */
  private written = new Set<string>();
  /** Of the writes that run now. */
  private readonly logs: KeptRows;
  readonly transaction: Transaction;
  readonly counts: StoreCounts = { writes: 0, commits: 0 };

  constructor(connection: Connection, watcher?: CommitWatcher) {
    this.connection = connection;
    this.watcher = watcher;
    this.statements = new Statements(connection);
    this.sequences = new Sequences(this.statements);
    this.transaction = {
      all: async (statement) => this.statements.all(this.noted(statement)),
      get: async (statement) => this.statements.get(this.noted(statement)),
      run: async (statement) => this.statements.run(this.noted(statement)),
      nextId: async (org, type) => this.sequences.next(org, type),
      append: (row) => this.logs.append(row),
      appendSelected: (select, rows) => this.logs.appendSelected(select, rows),
      fillFast: async (tables) => {
        throw new FillsTables(tables);
      },
    };
    this.logs = new KeptRows(this.transaction);
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
    while (this.queue.length > 0) await this.runGroup(this.queue.splice(0, GROUP_LIMIT));
    this.running = undefined;
  }

  private async runGroup(group: readonly Job[]): Promise<void> {
    let failed = await this.tryGroup(group, (job) => this.runJob(job));
    if (failed !== undefined && !(failed.error instanceof FillsTables)) {
      failed = await this.tryGroup(group, (job) => this.runApart(job));
    }
    if (failed === undefined) return;
    const { job, error } = failed;
    const others = group.filter((other) => other !== job);
    if (others.length > 0) await this.runGroup(others);
    await this.runFilling(job, error instanceof FillsTables ? error.tables : []);
  }

  /**
   * Runs a group in one transaction and answers its jobs. Returns the job that is reason to do it in another way;
   * nothing is answered then.
   */
  private async tryGroup(group: readonly Job[], run: (job: Job) => Promise<() => void>): Promise<Failed | undefined> {
    const answers: (() => void)[] = [];
    try {
      await takeLock(() => this.statements.run(BEGIN));
      this.watcher?.begun();
      for (const job of group) answers.push(await run(job));
      await this.writeKept();
      this.watcher?.committing();
      this.statements.run(COMMIT);
    } catch (error) {
      this.forgetKept();
      const { inTransaction } = this.connection;
      if (inTransaction) this.statements.run(ROLLBACK);
      // A full disk ends the whole transaction by itself: doing it again would not help.
      const again = group.length > 1 || (error instanceof Failed && error.error instanceof FillsTables);
      if (error instanceof Failed && again && inTransaction) return error;
      if (error instanceof Failed) this.counts.writes += group.length;
      for (const job of group) job.reject(error instanceof Failed ? error.error : error);
      return undefined;
    }
    const { written } = this;
    this.written = new Set();
    this.tell(answers, written);
    return undefined;
  }

  /** Tells everybody who waits for it that a transaction is on disk. */
  private tell(answers: readonly (() => void)[], written: ReadonlySet<string>): void {
    this.counts.writes += answers.length;
    this.counts.commits += 1;
    // Before anybody hears that it is written, what was known of the tables is forgotten.
    this.watcher?.committed(written);
    for (const answer of answers) answer();
    for (const listener of this.listeners) listener();
  }

  private async runFilling(job: Job, tables: readonly string[]): Promise<void> {
    try {
      // A work on tables that hold something reads much of it, and would wait for each answer of another thread.
      const place = tables.every((table) => isEmpty(this.connection, table)) ? 'apart' : 'here';
      const { value, written } = await fillTables(this.connection.name, place, job.work, () => this.watcher?.begun());
      this.tell([() => job.resolve(value)], written);
    } catch (error) {
      this.counts.writes += 1;
      job.reject(error);
    }
  }

  private noted(noted: Statement): Statement {
    for (const table of writtenTables(noted.sql)) {
      this.written.add(table);
      if (table === 'sequences') this.writeSequences();
    }
    return noted;
  }

  private writeSequences(): void {
    for (const raised of this.sequences.flush()) this.statements.run(raised);
  }

  private async runJob(job: Job): Promise<() => void> {
    try {
      const value = await job.work(this.transaction);
      return () => job.resolve(value);
    } catch (error) {
      throw new Failed(job, error);
    }
  }

  /** A job that leaves no trace when it fails; its rows of logs are written with it, to go with it. */
  private async runApart(job: Job): Promise<() => void> {
    this.statements.run(SAVEPOINT);
    try {
      const value = await job.work(this.transaction);
      await this.writeKept();
      this.statements.run(RELEASE);
      return () => job.resolve(value);
    } catch (error) {
      this.forgetKept();
      if (error instanceof FillsTables) throw new Failed(job, error);
      if (!this.connection.inTransaction) throw error;
      this.statements.run(UNDO);
      this.statements.run(RELEASE);
      return () => job.reject(error);
    }
  }

  /** This is the only writer, so rows may get their numbers before the works after them have run. */
  private async writeKept(): Promise<void> {
    this.writeSequences();
    await this.logs.write();
  }

  private forgetKept(): void {
    this.logs.forget();
    this.sequences.forget();
  }
}

/** The job of a group that failed, and why. */
class Failed extends Error {
  readonly job: Job;
  readonly error: unknown;

  constructor(job: Job, error: unknown) {
    super();
    this.job = job;
    this.error = error;
  }
}

const command = (text: string): Statement => ({ sql: text, text, values: [] });
const BEGIN = command('BEGIN IMMEDIATE');
const COMMIT = command('COMMIT');
const ROLLBACK = command('ROLLBACK');
const SAVEPOINT = command('SAVEPOINT request');
const RELEASE = command('RELEASE request');
const UNDO = command('ROLLBACK TO request');
