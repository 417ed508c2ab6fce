import { type Connection, openConnection } from '../../../sqlite/open.ts';
import { Statements } from './statements.ts';

/** A statement for SQLite, with its values. */
export interface SideStatement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** Its next rows, or what failed. */
export interface SideReply {
  readonly rows?: readonly object[];
  /** There are more rows, which have to be asked for. */
  readonly more?: boolean;
  readonly fault?: { readonly message: string; readonly code?: string };
}

/** Rows of one reply: what another thread has sent is taken in without a pause. */
const ROWS = 1000;

/** The database's side of a reader thread: a connection of its own, on which statements run one after another. */
export class SideReader {
  private readonly connection: Connection;
  private readonly statements: Statements;
  /** Rows of the last statement, and how many of them were told. */
  private found: readonly object[] = [];
  private told = 0;

  constructor(file: string) {
    this.connection = openConnection(file, { readonly: true });
    this.statements = new Statements(this.connection);
  }

  /** Runs a statement, or with undefined goes on with the rows of the last one. */
  reply(statement: SideStatement | undefined): SideReply {
    try {
      if (statement !== undefined) {
        const { sql, values } = statement;
        this.found = this.statements.all<object>({ sql, text: sql, values });
        this.told = 0;
      }
      const rows = this.found.slice(this.told, this.told + ROWS);
      this.told += rows.length;
      const more = this.told < this.found.length;
      if (!more) this.found = [];
      return { rows, more };
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      return { fault: { message, ...(code !== undefined && { code }) } };
    }
  }

  close(): void {
    this.connection.close();
  }
}
