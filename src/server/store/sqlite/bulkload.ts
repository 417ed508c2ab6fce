import { suspendIndexes } from './indexes.ts';
import { type Connection, openConnection } from './open.ts';
import { Statements } from './statements.ts';

/**
 * The database's side of one transaction that fills tables: a connection of its own, on which batches are run in order.
 * After a fault everything is refused with that fault, for the transaction may be gone; to close it undoes what is not
 * committed.
 */
export class Filler {
  private readonly connection: Connection;
  private readonly statements: Statements;
  private readonly texts: Text[] = [];
  private restore = () => {};
  private refusal: Answer | undefined;

  constructor(file: string) {
    this.connection = openConnection(file);
    this.statements = new Statements(this.connection);
  }

  answer({ texts, calls, values, question }: Batch): Answer {
    // Another process had the lock: nothing has been done yet.
    if (question?.kind === 'begin') this.refusal = undefined;
    if (this.refusal !== undefined) return this.refusal;
    try {
      this.texts.push(...texts);
      this.run(calls, values);
      return question === undefined ? {} : { found: this.found(question) };
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
      const { sql, places } = this.texts[call] as Text;
      this.statements.run({ sql, text: sql, values: values.slice(at, at + places) });
      at += places;
    }
  }

  private found(question: Question): unknown {
    switch (question.kind) {
      case 'begin':
        return this.connection.exec('BEGIN IMMEDIATE') && undefined;
      case 'suspend':
        this.restore = suspendIndexes(this.connection, question.tables);
        return undefined;
      case 'restore':
        return this.restore();
      default:
        return this.statements[question.kind]({ ...question, text: question.sql });
    }
  }
}

/** A text that statements name by its place in the order in which texts came, and how many values it takes. */
export interface Text {
  readonly sql: string;
  readonly places: number;
}

/** What waits for an answer. */
export type Question =
  | { readonly kind: 'begin' }
  | { readonly kind: 'all' | 'get' | 'run'; readonly sql: string; readonly values: readonly unknown[] }
  | { readonly kind: 'suspend'; readonly tables: readonly string[] }
  | { readonly kind: 'restore' };

/** Statements that are run in order, and a question after them. One object for many, since to send an object costs. */
export interface Batch {
  /** Texts that are new. */
  readonly texts: readonly Text[];
  /** The text of each statement. */
  readonly calls: readonly number[];
  /** The values of all statements, one after another. */
  readonly values: readonly unknown[];
  readonly question?: Question;
}

/** What a batch came to: what its question found, or the first fault. */
export type Answer = { readonly found?: unknown } | { readonly fault: Fault };

/** An error as it can be sent. */
export interface Fault {
  readonly message: string;
  readonly code?: string;
}
