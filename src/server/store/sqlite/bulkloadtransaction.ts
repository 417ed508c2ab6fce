import type { Sql } from 'sql-template-tag';
import { CountBuffer, writeCounts } from '../counts.ts';
import { nextId } from '../sequences.ts';
import type { CountChange, LogRow, Statement, Transaction } from '../store.ts';
import type { BatchRequest, BatchText } from './bulkload.ts';
import type { LoaderThread, Port } from './bulkloadport.ts';
import { writtenTables } from './countcache.ts';
import { takeLock } from './lock.ts';
import { LogBuffer } from './logbuffer.ts';

/** Maximum statements of a batch, and maximum characters of their values. */
const MAX_BATCH_STATEMENTS = 200;
const MAX_BATCH_CHARACTERS = 1_000_000;

/** Maximum batches that are sent and not replied to. */
const MAX_PENDING_BATCHES = 4;

/**
 * A bulk load. It does not wait for what it writes: statements run in order, so every read sees it, and the fault of one is
 * thrown by a later one, or by the commit.
 */
export class BulkLoadTransaction implements Transaction {
  private readonly known = new Map<string, number>();
  private texts: BatchText[] = [];
  private calls: number[] = [];
  private values: unknown[] = [];
  private characters = 0;
  private readonly pending: Promise<void>[] = [];
  private fault: { readonly error: unknown } | undefined;
  private readonly changes = new CountBuffer();
  private readonly logs = new LogBuffer(this);
  /** Tables written to so far. */
  readonly written = new Set<string>();

  constructor(private readonly port: Port) {}

  /** Takes the write lock; waits for another process that holds it. */
  begin(): Promise<void> {
    return takeLock(() => {
      this.fault = undefined;
      return this.request({ kind: 'begin' });
    });
  }

  /** Resolves when everything is on disk. */
  async commit(): Promise<void> {
    await writeCounts(this, this.changes.take());
    await this.logs.write();
    await this.request({ kind: 'run', sql: 'COMMIT', values: [] });
  }

  all<T extends object>(statement: Statement): Promise<T[]> {
    return this.request({ kind: 'all', ...this.tracked(statement) }) as Promise<T[]>;
  }

  get<T extends object>(statement: Statement): Promise<T | undefined> {
    return this.request({ kind: 'get', ...this.tracked(statement) }) as Promise<T | undefined>;
  }

  async run(statement: Statement): Promise<number> {
    await this.queue(statement);
    return 0;
  }

  async queue(statement: Statement): Promise<void> {
    if (this.fault !== undefined) throw this.fault.error;
    const { sql, values } = this.tracked(statement);
    this.calls.push(this.numberOf(sql, values.length));
    for (const value of values) {
      this.values.push(value);
      if (typeof value === 'string') this.characters += value.length;
    }
    if (this.calls.length >= MAX_BATCH_STATEMENTS || this.characters >= MAX_BATCH_CHARACTERS) await this.send();
  }

  nextId(org: number, type: string): Promise<number> {
    return nextId(this, org, type);
  }

  count(change: CountChange): void {
    this.changes.add(change);
  }

  append(row: LogRow): Promise<void> {
    return this.logs.append(row);
  }

  appendSelected(org: number, select: Sql, rows: number): Promise<void> {
    return this.logs.appendSelected(org, select, rows);
  }

  async beginBulkLoad(tables: readonly string[]): Promise<{ restore(): Promise<void> }> {
    await this.request({ kind: 'suspend', tables });
    return {
      restore: async () => {
        await this.request({ kind: 'restore' });
      },
    };
  }

  /** A statement as it can be sent to a thread: its text comes from a getter, which would not be copied. */
  private tracked({ sql, values }: Statement): Pick<Statement, 'sql' | 'values'> {
    for (const table of writtenTables(sql)) this.written.add(table);
    return { sql, values };
  }

  private numberOf(sql: string, places: number): number {
    const known = this.known.get(sql);
    if (known !== undefined) return known;
    const number = this.known.size;
    this.known.set(sql, number);
    this.texts.push({ sql, places });
    return number;
  }

  /** Sends the batch; waits when too many are pending. */
  private async send(): Promise<void> {
    const sent = this.dispatch().then(
      () => {},
      (error: unknown) => {
        this.fault ??= { error };
      },
    );
    if (this.pending.push(sent) >= MAX_PENDING_BATCHES) await this.pending.shift();
  }

  private async request(request: BatchRequest): Promise<unknown> {
    if (this.fault !== undefined) throw this.fault.error;
    try {
      return await this.dispatch(request);
    } catch (error) {
      this.fault ??= { error };
      throw this.fault.error;
    }
  }

  private async dispatch(request?: BatchRequest): Promise<unknown> {
    const { texts, calls, values } = this;
    [this.texts, this.calls, this.values, this.characters] = [[], [], [], 0];
    const reply = await this.port.send({ texts, calls, values, ...(request && { request }) });
    if ('fault' in reply) throw Object.assign(new Error(reply.fault.message), reply.fault);
    return reply.found;
  }
}

/**
 * Runs a bulk load in a transaction on a connection of its own; a failed one leaves nothing. `begun` is called when it has
 * the write lock. Resolves, when it is on disk, with the value of the work and the tables it wrote to.
 */
export async function bulkLoad<T>(
  file: string,
  place: LoaderThread,
  work: (tx: Transaction) => Promise<T>,
  begun: () => void,
): Promise<{ readonly value: T; readonly written: ReadonlySet<string> }> {
  // In a bundle of its own, which finds that of the thread beside it.
  const { openPort } = await import('./bulkloadport.ts');
  const port = openPort(file, place);
  try {
    const tx = new BulkLoadTransaction(port);
    await tx.begin();
    begun();
    const value = await work(tx);
    await tx.commit();
    return { value, written: tx.written };
  } finally {
    await port.close();
  }
}
