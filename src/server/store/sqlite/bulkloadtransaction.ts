import type { Sql } from 'sql-template-tag';
import type { LogRow } from '../logs.ts';
import { nextId } from '../sequences.ts';
import type { Statement, Transaction } from '../store.ts';
import type { Question, Text } from './bulkload.ts';
import type { Place, Port } from './bulkloadport.ts';
import { takeLock } from './lock.ts';
import { KeptRows } from './logbuffer.ts';
import { writtenTables } from './tablenumbers.ts';

/** Statements of one batch, and the characters of their values, at most: each is sent as a whole. */
const STATEMENTS = 200;
const CHARACTERS = 1_000_000;

/** Batches on their way at once. */
const UNDER_WAY = 4;

/**
 * A transaction that fills tables. It does not wait for what it writes: statements are run in order, so whatever is read
 * sees it, and a fault of one comes out at a later one, or at the commit.
 */
export class FillingTransaction implements Transaction {
  private readonly port: Port;
  private readonly known = new Map<string, number>();
  private texts: Text[] = [];
  private calls: number[] = [];
  private values: unknown[] = [];
  private characters = 0;
  private readonly underWay: Promise<void>[] = [];
  private fault: { readonly error: unknown } | undefined;
  private readonly logs = new KeptRows(this);
  /** Tables that have been written to. */
  readonly written = new Set<string>();

  constructor(port: Port) {
    this.port = port;
  }

  /** Takes the write lock; waits for another process that has it. */
  begin(): Promise<void> {
    return takeLock(() => {
      this.fault = undefined;
      return this.ask({ kind: 'begin' });
    });
  }

  /** Resolves when everything is on disk. */
  async commit(): Promise<void> {
    await this.logs.write();
    await this.ask({ kind: 'run', sql: 'COMMIT', values: [] });
  }

  all<T extends object>(statement: Statement): Promise<T[]> {
    return this.ask({ kind: 'all', ...this.noted(statement) }) as Promise<T[]>;
  }

  get<T extends object>(statement: Statement): Promise<T | undefined> {
    return this.ask({ kind: 'get', ...this.noted(statement) }) as Promise<T | undefined>;
  }

  async run(statement: Statement): Promise<number> {
    if (this.fault !== undefined) throw this.fault.error;
    const { sql, values } = this.noted(statement);
    this.calls.push(this.numberOf(sql, values.length));
    for (const value of values) {
      this.values.push(value);
      if (typeof value === 'string') this.characters += value.length;
    }
    if (this.calls.length >= STATEMENTS || this.characters >= CHARACTERS) await this.send();
    return 0;
  }

  nextId(org: number, type: string): Promise<number> {
    return nextId(this, org, type);
  }

  append(row: LogRow): Promise<void> {
    return this.logs.append(row);
  }

  appendSelected(select: Sql, rows: number): Promise<void> {
    return this.logs.appendSelected(select, rows);
  }

  async fillFast(tables: readonly string[]): Promise<{ restore(): Promise<void> }> {
    await this.ask({ kind: 'suspend', tables });
    return {
      restore: async () => {
        await this.ask({ kind: 'restore' });
      },
    };
  }

  /** A statement as it can be sent: its text is made by a getter, which would be left behind. */
  private noted({ sql, values }: Statement): Pick<Statement, 'sql' | 'values'> {
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

  /** Sends what waits, and waits itself where too much is on its way. */
  private async send(): Promise<void> {
    const sent = this.dispatch().then(
      () => {},
      (error: unknown) => {
        this.fault ??= { error };
      },
    );
    if (this.underWay.push(sent) >= UNDER_WAY) await this.underWay.shift();
  }

  private async ask(question: Question): Promise<unknown> {
    if (this.fault !== undefined) throw this.fault.error;
    try {
      return await this.dispatch(question);
    } catch (error) {
      this.fault ??= { error };
      throw this.fault.error;
    }
  }

  private async dispatch(question?: Question): Promise<unknown> {
    const { texts, calls, values } = this;
    [this.texts, this.calls, this.values, this.characters] = [[], [], [], 0];
    const answer = await this.port.send({ texts, calls, values, ...(question && { question }) });
    if ('fault' in answer) throw Object.assign(new Error(answer.fault.message), answer.fault);
    return answer.found;
  }
}

/**
 * Runs a work that fills tables in a transaction on a connection of its own; nothing is left of it when it fails.
 * `begun` is called when it has the write lock. Resolves, when it is on disk, with what the work gave and the tables
 * that it has written to.
 */
export async function fillTables<T>(
  file: string,
  place: Place,
  work: (tx: Transaction) => Promise<T>,
  begun: () => void,
): Promise<{ readonly value: T; readonly written: ReadonlySet<string> }> {
  // A file by itself, which finds that of the thread beside it.
  const { openPort } = await import('./bulkloadport.ts');
  const port = openPort(file, place);
  try {
    const tx = new FillingTransaction(port);
    await tx.begin();
    begun();
    const value = await work(tx);
    await tx.commit();
    return { value, written: tx.written };
  } finally {
    await port.close();
  }
}
