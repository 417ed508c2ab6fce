import { type Connection, openConnection } from '../../../sqlite/open.ts';
import { suspendIndexes } from './indexes.ts';
import { Statements } from './statements.ts';

/**
 * The database's side of one bulk load: a connection of its own, on which batches run in order. After a fault everything is
 * refused with that fault, for the transaction may be gone. Closing it undoes what is not committed.
 */
export class BulkLoader {
  private readonly connection: Connection;
  private readonly statements: Statements;
  private readonly texts: BatchText[] = [];
  private restore = () => {};
  private refusal: BatchReply | undefined;

  constructor(file: string) {
    this.connection = openConnection(file);
    this.statements = new Statements(this.connection);
  }

  reply({ texts, calls, values, request }: Batch): BatchReply {
    // Another process held the lock: nothing has been done yet.
    if (request?.kind === 'begin') this.refusal = undefined;
    if (this.refusal !== undefined) return this.refusal;
    try {
      this.texts.push(...texts);
      this.run(calls, values);
      return request === undefined ? {} : { found: this.found(request) };
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      this.refusal = { fault: { message, ...(code !== undefined && { code }) } };
      return this.refusal;
    }
  }

  close(): void {
    this.connection.close();
  }

  private run(calls: readonly number[], values: readonly unknown[]): void {
    let at = 0;
    for (const call of calls) {
      const { sql, places } = this.texts[call] as BatchText;
      this.statements.run({ sql, text: sql, values: values.slice(at, at + places) });
      at += places;
    }
  }

  private found(request: BatchRequest): unknown {
    switch (request.kind) {
      case 'begin':
        return this.connection.exec('BEGIN IMMEDIATE') && undefined;
      case 'suspend':
        this.restore = suspendIndexes(this.connection, request.tables);
        return undefined;
      case 'restore':
        return this.restore();
      default:
        return this.statements[request.kind]({ ...request, text: request.sql });
    }
  }
}

/** The text of statements, which name it by its position among the texts sent so far, and how many values it takes. */
export interface BatchText {
  readonly sql: string;
  readonly places: number;
}

/** What a batch ends with and waits for. */
export type BatchRequest =
  | { readonly kind: 'begin' }
  | { readonly kind: 'all' | 'get' | 'run'; readonly sql: string; readonly values: readonly unknown[] }
  | { readonly kind: 'suspend'; readonly tables: readonly string[] }
  | { readonly kind: 'restore' };

/** Statements that run in order, and a request after them. One object for many statements, since sending one costs. */
export interface Batch {
  /** Texts that are new. */
  readonly texts: readonly BatchText[];
  /** The text of each statement. */
  readonly calls: readonly number[];
  /** The values of all statements, one after another. */
  readonly values: readonly unknown[];
  readonly request?: BatchRequest;
}

/** The result of a batch: what its request found, or the first fault. */
export type BatchReply = { readonly found?: unknown } | { readonly fault: Fault };

/** An error as it can be sent. */
export interface Fault {
  readonly message: string;
  readonly code?: string;
}
