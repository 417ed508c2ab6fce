import type { Statement } from 'better-sqlite3';
import type { Connection } from '../../../sqlite/open.ts';

type Parameters = unknown[] | object;

/** Statements that are prepared once: the garbage collector does not know how much memory SQLite keeps for each. */
export class Statements {
  private readonly known = new Map<string, unknown>();

  constructor(private readonly connection: Connection) {}

  /** The statement of a text, which must be used with the same kind of result wherever it is. */
  prepare<P extends Parameters = unknown[], R = unknown>(text: string) {
    const statement = this.known.get(text) ?? this.connection.prepare<P, R>(text);
    this.known.set(text, statement);
    return statement as P extends unknown[] ? Statement<P, R> : Statement<[P], R>;
  }
}
