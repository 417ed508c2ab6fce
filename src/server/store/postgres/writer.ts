import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { LogRow, StoreCounts, Transaction } from '../store.ts';
import { isLost, isTransient, storeFault } from './faults.ts';
import { type Connection, connectionOf, patienceFor } from './statements.ts';
import { NeedsOwnTransaction, type Noted, PostgresTransaction, writeNoted } from './transaction.ts';

interface Job {
  readonly work: (tx: Transaction) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Rows of logs are all that it writes. */
  readonly quiet: boolean;
}

/** Works that wait for each other: those of one lane share transactions, and those of others pass them. */
interface Lane {
  queue: Job[];
  running: boolean;
  /** The organization whose row their transactions hold. */
  readonly org: number | undefined;
}

const MAX_GROUP_JOBS = 256;

/** Maximum attempts of a transaction that conflicts with others. */
const MAX_ATTEMPTS = 6;

/** Time after which the database ends an open transaction whose server has gone away silently. */
const IDLE_MS = 60_000;

export interface WriterOptions {
  readonly sessions: boolean;
  /** Milliseconds a statement may take, waiting for locks included; 0 for as long as it takes. */
  readonly timeoutMs: number;
  /** A command by which each transaction says in which form its rows are, where older servers may write others. */
  readonly declaring?: string | undefined;
  /** What a transaction of requests sets first, for its plans; empty for nothing. */
  readonly planning: string;
  readonly committed: () => void;
  /** Entries of the audit log were committed that wait for their place. */
  readonly queued: () => void;
}

/**
 * Writes in groups: those of one organization that wait for each other share a transaction, and hold the organization's
 * row, so that other processes wait. They run without savepoints and without waiting for what they write; only when one
 * fails that has written does the group run again, each under a savepoint of its own, so that it harms no other.
 * Organizations do not wait for each other, nor does what only appends to logs for what changes records.
 */
export class LaneWriter {
  private readonly lanes = new Map<string, Lane>();
  private readonly running = new Set<Promise<void>>();
  readonly counts: StoreCounts = { writes: 0, commits: 0 };

  constructor(
    private readonly pool: Pool,
    private readonly options: WriterOptions,
  ) {}

  submit<T>(work: (tx: Transaction) => Promise<T>, org?: number): Promise<T> {
    return this.enqueue(work, { name: `records ${org}`, org });
  }

  appendLogs(rows: readonly LogRow[]): Promise<void> {
    const append = async (tx: Transaction) => {
      for (const row of rows) await tx.append(row);
    };
    return this.enqueue(append, { name: 'logs', quiet: true });
  }

  /** Gives entries of the audit log their places (`sequenceWaiting`); one of these works runs at a time. */
  sequence<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.enqueue(work, { name: 'sequence', quiet: true });
  }

  /** Resolves when everything submitted so far is settled. */
  async idle(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  private enqueue<T>(
    work: (tx: Transaction) => Promise<T>,
    {
      name,
      org,
      quiet = false,
    }: { readonly name: string; readonly org?: number | undefined; readonly quiet?: boolean },
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const lane = this.lanes.get(name) ?? { queue: [], running: false, org };
      this.lanes.set(name, lane);
      lane.queue.push({ work, resolve: resolve as (value: unknown) => void, reject, quiet });
      if (lane.running) return;
      lane.running = true;
      this.track(this.drain(name, lane));
    });
  }

  private track(running: Promise<void>): void {
    this.running.add(running);
    void running.finally(() => this.running.delete(running));
  }

  private async drain(name: string, lane: Lane): Promise<void> {
    // One turn, so that requests read from other sockets in this turn join the group.
    await new Promise((resolve) => setImmediate(resolve));
    while (lane.queue.length > 0) {
      await this.runGroup(lane.queue.splice(0, MAX_GROUP_JOBS), lane.org);
    }
    lane.running = false;
    this.lanes.delete(name);
  }

  private async runGroup(group: readonly Job[], org: number | undefined, attempt = 1): Promise<void> {
    let outcome = await this.tryGroup(group, org, 'together');
    if (outcome?.harmsOthers) outcome = await this.tryGroup(group, org, 'apart');
    if (outcome === undefined) return;
    if (outcome.again && attempt < MAX_ATTEMPTS) {
      if (isTransient(outcome.error)) await sleep(Math.random() * 10 * 2 ** attempt);
      // One by one, so that a job that cannot succeed holds up no other.
      const parts = group.length > 1 ? group.map((job) => [job]) : [group];
      for (const part of parts) await this.runGroup(part, org, attempt + 1);
      return;
    }
    for (const job of group) job.reject(outcome.error);
  }

  /** Runs a group in one transaction and settles its jobs; returns why none was settled. */
  private async tryGroup(group: readonly Job[], org: number | undefined, way: Way): Promise<Failure | undefined> {
    const alone = way === 'alone';
    let connection: Connection;
    try {
      connection = connectionOf(await this.pool.connect(), this.options.sessions);
    } catch (error) {
      return { error: storeFault(error), again: false };
    }
    const { client } = connection;
    connection.patienceMs = alone ? 0 : patienceFor(this.options.timeoutMs);
    const tx = new PostgresTransaction(connection, alone);
    let committing = false;
    let begun: Promise<unknown> | undefined;
    const answers: (() => void)[] = [];
    const noted: Noted[] = [];
    let hasQueued = false;
    try {
      // The first statement follows without waiting: where this fails, so does everything up to the end.
      begun = sent(connection.command(this.beginning(org, alone)));
      for (const job of group) {
        answers.push(way === 'apart' ? await this.runApart(connection, job, noted) : await runJob(tx, job));
      }
      hasQueued = await writeNoted(tx, [...noted, await tx.noted()]);
      committing = true;
      // COMMIT silently rolls back a transaction that a statement broke.
      if ((await connection.command('COMMIT')) !== 'COMMIT')
        throw tx.failure ?? new Error('The transaction did not commit.');
      client.release();
    } catch (failed) {
      // Where the transaction did not even begin, that is why everything in it failed.
      const unbegun = await begun?.then(
        () => undefined,
        (reason: unknown) => ({ reason }),
      );
      const error = unbegun === undefined ? failed : unbegun.reason;
      const lost = isLost(error);
      client.release(lost || !(await rolledBack(connection)));
      if (error instanceof RunAlone) {
        this.track(this.runAlone(error.job));
        const others = group.filter((job) => job !== error.job);
        if (others.length > 0) await this.runGroup(others, org);
        return undefined;
      }
      // Whether a lost commit was made is unknown; everything before it can be retried.
      const again = !alone && (isTransient(error) || (lost && !committing));
      const isOfJobs = unbegun === undefined && way === 'together' && group.length > 1;
      return { error, again, harmsOthers: isOfJobs && !lost && !again };
    }
    this.finish(group, answers);
    if (hasQueued) this.options.queued();
    return undefined;
  }

  /** Runs a bulk load in a transaction of its own, without a time limit and without retries. */
  private async runAlone(job: Job): Promise<void> {
    const failure = await this.tryGroup([job], undefined, 'alone');
    if (failure !== undefined) job.reject(failure.error);
  }

  /** Runs a job so that it leaves no trace when it fails, and adds what it has noted. */
  private async runApart(connection: Connection, job: Job, noted: Noted[]): Promise<() => void> {
    const tx = new PostgresTransaction(connection, false);
    void sent(connection.command('SAVEPOINT request'));
    try {
      const value = await job.work(tx);
      const own = await tx.noted();
      await tx.drain();
      await connection.command('RELEASE SAVEPOINT request');
      noted.push(own);
      return () => job.resolve(value);
    } catch (error) {
      if (error instanceof NeedsOwnTransaction) throw new RunAlone(job);
      // These end the whole transaction, or make it run again.
      if (isLost(error) || isTransient(error)) throw error;
      await connection.command('ROLLBACK TO SAVEPOINT request; RELEASE SAVEPOINT request');
      return () => job.reject(error);
    }
  }

  /** One message to the database: begins, sets limits, and takes the organization's row. */
  private beginning(org: number | undefined, alone: boolean): string {
    const timeout = alone ? 0 : this.options.timeoutMs;
    const idle = alone ? 0 : IDLE_MS;
    const lock = org === undefined ? '' : `; SELECT org FROM organizations WHERE org = ${Math.trunc(org)} FOR UPDATE`;
    const { declaring, planning } = this.options;
    const plans = alone || planning === '' ? '' : `; ${planning}`;
    const limits = `SET LOCAL statement_timeout = ${timeout}; SET LOCAL idle_in_transaction_session_timeout = ${idle}`;
    return `BEGIN ISOLATION LEVEL READ COMMITTED; ${limits}${plans}${declaring === undefined ? '' : `; ${declaring}`}${lock}`;
  }

  private finish(group: readonly Job[], answers: readonly (() => void)[]): void {
    const loud = group.filter((job) => !job.quiet);
    this.counts.writes += loud.length;
    this.counts.commits += loud.length > 0 ? 1 : 0;
    for (const answer of answers) answer();
    if (loud.length > 0) this.options.committed();
  }
}

async function runJob(tx: PostgresTransaction, job: Job): Promise<() => void> {
  const before = tx.writes;
  try {
    const value = await job.work(tx);
    return () => job.resolve(value);
  } catch (error) {
    if (error instanceof NeedsOwnTransaction) throw new RunAlone(job);
    // One that has written nothing, such as a refused request, has left nothing that others could see.
    if (tx.failure !== undefined || tx.writes > before) throw error;
    return () => job.reject(error);
  }
}

/** A command that is not waited for yet: what fails is thrown to whoever does, and no statement after it succeeds. */
function sent<T>(command: Promise<T>): Promise<T> {
  command.catch(() => {});
  return command;
}

async function rolledBack(connection: Connection): Promise<boolean> {
  return connection.command('ROLLBACK').then(
    () => true,
    () => false,
  );
}

interface Failure {
  readonly error: unknown;
  readonly again: boolean;
  /** A work of a group has failed, and others may have seen what it wrote, or could not go on. */
  readonly harmsOthers?: boolean;
}

/** How the works of a transaction run: without savepoints, each under one, or one that has the transaction for itself. */
type Way = 'together' | 'apart' | 'alone';

/** Thrown for a job of a group that has to run by itself. */
class RunAlone extends Error {
  constructor(readonly job: Job) {
    super();
  }
}
