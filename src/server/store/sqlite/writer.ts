import type { Connection } from '../../../sqlite/open.ts';
import { type CommitOf, endOfTurn, isFull } from '../../fairscheduling.ts';
import { CountBuffer, writeCounts } from '../counts.ts';
import { Sequences } from '../sequences.ts';
import { statement } from '../statement.ts';
import type { Statement, StoreCounts, Transaction } from '../store.ts';
import { bulkLoad } from './bulkloadtransaction.ts';
import { writtenTables } from './countcache.ts';
import { isEmpty } from './indexes.ts';
import { takeLock } from './lock.ts';
import { LogBuffer } from './logbuffer.ts';
import { Statements } from './statements.ts';

interface Job {
  readonly work: (tx: Transaction) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Callbacks for the transactions of a writer, whose lock keeps all others from writing meanwhile. */
export interface CommitWatcher {
  begun(): void;
  /** Before a commit, which may reset the journal: nobody should be reading. */
  committing(): void;
  /** After a commit of writes to these tables. */
  committed(tables: ReadonlySet<string>): void;
}

const MAX_GROUP_JOBS = 256;

/** Thrown by a work that is a bulk load: it runs again, in another kind of transaction. */
class NeedsBulkLoad extends Error {
  constructor(readonly tables: readonly string[]) {
    super();
  }
}

/**
 * The single writer. All writes that arrive in one turn of the event loop share one transaction, up to some milliseconds of
 * them, so one disk sync acknowledges them all. A savepoint for each would copy every page they touch, so they run without
 * one; only when a write fails does the group run again, each write under a savepoint of its own, so that the failed one
 * harms no other.
 */
export class GroupWriter {
  private queue: Job[] = [];
  private running: Promise<void> | undefined;
  private readonly statements: Statements;
  // The only writer: nobody raises what it has read.
  private readonly sequences = new Sequences(async (org, type) => {
    const found = statement`SELECT last_id FROM sequences WHERE org = ${org} AND type = ${type}`;
    return this.statements.get<{ last_id: number }>(found)?.last_id ?? 0;
  });
  private readonly listeners = new Set<() => void>();
  private readonly watcher: CommitWatcher | undefined;
  /** Tables written to by the group that runs now. */
  private written = new Set<string>();
  private readonly changes = new CountBuffer();
  /** Of the group that runs now. */
  private readonly logs: LogBuffer;
  readonly transaction: Transaction;
  readonly counts: StoreCounts = { writes: 0, commits: 0 };

  constructor(
    private readonly connection: Connection,
    watcher?: CommitWatcher,
    private readonly commitOf: CommitOf = 'writes',
  ) {
    this.watcher = watcher;
    this.statements = new Statements(connection);
    this.transaction = {
      all: async (statement) => this.statements.all(this.tracked(statement)),
      get: async (statement) => this.statements.get(this.tracked(statement)),
      run: async (statement) => this.statements.run(this.tracked(statement)),
      queue: async (statement) => void this.statements.run(this.tracked(statement)),
      nextId: (org, type) => this.sequences.next(org, type),
      count: (change) => this.changes.add(change),
      append: (row) => this.logs.append(row),
      appendSelected: (org, select, rows) => this.logs.appendSelected(org, select, rows),
      beginBulkLoad: async (tables) => {
        throw new NeedsBulkLoad(tables);
      },
    };
    this.logs = new LogBuffer(this.transaction);
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

  /** Resolves when everything submitted so far is settled. */
  async idle(): Promise<void> {
    while (this.running !== undefined) await this.running;
  }

  private async drain(): Promise<void> {
    while (this.queue.length > 0) {
      // What comes up in the rest of the turn joins the group.
      await endOfTurn(this.commitOf);
      await this.runGroup(this.queue.splice(0, MAX_GROUP_JOBS));
    }
    this.running = undefined;
  }

  private async runGroup(group: Job[]): Promise<void> {
    let failed = await this.tryGroup(group, (job) => this.runJob(job));
    if (failed !== undefined && !(failed.error instanceof NeedsBulkLoad)) {
      failed = await this.tryGroup(group, (job) => this.runApart(job));
    }
    if (failed === undefined) return;
    const { job, error } = failed;
    const others = group.filter((other) => other !== job);
    if (others.length > 0) await this.runGroup(others);
    await this.runBulkLoad(job, error instanceof NeedsBulkLoad ? error.tables : []);
  }

  /**
   * Runs a group in one transaction and settles its jobs. Returns the job because of which it has to run in another way;
   * nothing is settled then.
   */
  private async tryGroup(group: Job[], run: (job: Job) => Promise<() => void>): Promise<Failed | undefined> {
    const answers: (() => void)[] = [];
    try {
      await takeLock(() => this.statements.run(BEGIN));
      this.watcher?.begun();
      const began = performance.now();
      for (const job of group) {
        answers.push(await run(job));
        if (isFull(began)) this.queue.unshift(...group.splice(answers.length));
      }
      await this.writeBuffered();
      this.watcher?.committing();
      this.statements.run(COMMIT);
    } catch (error) {
      this.dropBuffered();
      const { inTransaction } = this.connection;
      if (inTransaction) this.statements.run(ROLLBACK);
      // A full disk ends the transaction by itself: a retry would not help.
      const again = group.length > 1 || (error instanceof Failed && error.error instanceof NeedsBulkLoad);
      if (error instanceof Failed && again && inTransaction) return error;
      if (error instanceof Failed) this.counts.writes += group.length;
      for (const job of group) job.reject(error instanceof Failed ? error.error : error);
      return undefined;
    }
    const { written } = this;
    this.written = new Set();
    this.settle(answers, written);
    return undefined;
  }

  /** Settles the jobs of a transaction that is on disk. */
  private settle(answers: readonly (() => void)[], written: ReadonlySet<string>): void {
    this.counts.writes += answers.length;
    this.counts.commits += 1;
    // Caches are cleared before any caller learns that it is written.
    this.watcher?.committed(written);
    for (const answer of answers) answer();
    for (const listener of this.listeners) listener();
  }

  private async runBulkLoad(job: Job, tables: readonly string[]): Promise<void> {
    try {
      // A load into tables with rows reads many of them, and would wait for each reply of another thread.
      const place = tables.every((table) => isEmpty(this.connection, table)) ? 'apart' : 'here';
      const { value, written } = await bulkLoad(this.connection.name, place, job.work, () => this.watcher?.begun());
      this.settle([() => job.resolve(value)], written);
    } catch (error) {
      this.counts.writes += 1;
      job.reject(error);
    }
  }

  private tracked(noted: Statement): Statement {
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

  /** Runs a job so that it leaves no trace when it fails; its rows of logs are written, and undone, with it. */
  private async runApart(job: Job): Promise<() => void> {
    this.statements.run(SAVEPOINT);
    try {
      const value = await job.work(this.transaction);
      await this.writeBuffered();
      this.statements.run(RELEASE);
      return () => job.resolve(value);
    } catch (error) {
      this.dropBuffered();
      if (error instanceof NeedsBulkLoad) throw new Failed(job, error);
      if (!this.connection.inTransaction) throw error;
      this.statements.run(UNDO);
      this.statements.run(RELEASE);
      return () => job.reject(error);
    }
  }

  /** This is the only writer, so rows may be numbered before the jobs after them have run. */
  private async writeBuffered(): Promise<void> {
    this.writeSequences();
    await writeCounts(this.transaction, this.changes.take());
    await this.logs.write();
  }

  private dropBuffered(): void {
    this.logs.clear();
    this.changes.take();
    this.sequences.clear();
  }
}

/** The job of a group that failed, and why. */
class Failed extends Error {
  constructor(
    readonly job: Job,
    readonly error: unknown,
  ) {
    super();
  }
}

const command = (text: string): Statement => ({ sql: text, text, values: [] });
const BEGIN = command('BEGIN IMMEDIATE');
const COMMIT = command('COMMIT');
const ROLLBACK = command('ROLLBACK');
const SAVEPOINT = command('SAVEPOINT request');
const RELEASE = command('RELEASE request');
const UNDO = command('ROLLBACK TO request');
